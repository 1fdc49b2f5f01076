// What can be said of an expression's value before it has one.
//
//   StaticTypeOf(code of `i + 1`)    // kNumber
//   StaticTypeOf(code of `\1`)       // kUnknown: a text or a number, as needed
#ifndef REKEY_ENGINE_STATIC_TYPE_H_
#define REKEY_ENGINE_STATIC_TYPE_H_

#include <algorithm>

#include "engine/expr.h"

namespace rekey {

enum class StaticType { kUnknown, kNumber, kText, kTruth, kDType, kList };

inline StaticType StaticTypeOf(const Value& value) {
  if (value.text()) return StaticType::kText;
  if (value.truth()) return StaticType::kTruth;
  if (value.dtype()) return StaticType::kDType;
  return value.list() ? StaticType::kList : StaticType::kNumber;
}

inline StaticType StaticTypeOf(const TableValues& table) {
  const bool numbers = std::all_of(table.values.begin(), table.values.end(), [](const auto& row) {
    return StaticTypeOf(row.second) == StaticType::kNumber;
  });
  const bool texts = std::all_of(table.values.begin(), table.values.end(), [](const auto& row) {
    return StaticTypeOf(row.second) == StaticType::kText;
  });
  return numbers ? StaticType::kNumber : texts ? StaticType::kText : StaticType::kUnknown;
}

inline StaticType StaticTypeOf(const Code& code) {
  using Kind = Code::Kind;
  switch (code.kind) {
    case Kind::kConstant:
      return StaticTypeOf(code.value);
    case Kind::kVariable:
      return code.variable == Variable::Kind::kInt    ? StaticType::kNumber
             : code.variable == Variable::Kind::kText ? StaticType::kText
                                                      : StaticType::kUnknown;
    case Kind::kMissing:
    case Kind::kMeta:
      return StaticType::kUnknown;
    case Kind::kRank:
    case Kind::kDim:
      return StaticType::kNumber;
    case Kind::kDType:
      return StaticType::kDType;
    case Kind::kHas:
      return StaticType::kTruth;
    case Kind::kTable:
      return StaticTypeOf(*code.table);
    case Kind::kDots:
    case Kind::kSlashes:
      return StaticType::kText;
    case Kind::kList:
      return StaticType::kList;
    case Kind::kUnary:
      return code.text == "not" ? StaticType::kTruth : StaticType::kNumber;
    case Kind::kBinary:
      return code.text.find_first_of("=<>") != std::string::npos || code.text == "and" ||
                     code.text == "or"
                 ? StaticType::kTruth
                 : StaticType::kNumber;
  }
  return StaticType::kUnknown;
}

inline const char* NameOf(StaticType type) {
  switch (type) {
    case StaticType::kUnknown:
      return "unknown";
    case StaticType::kNumber:
      return "a number";
    case StaticType::kText:
      return "a text";
    case StaticType::kTruth:
      return "a truth value";
    case StaticType::kDType:
      return "a dtype";
    case StaticType::kList:
      return "a list";
  }
  return "";
}

}  // namespace rekey

#endif  // REKEY_ENGINE_STATIC_TYPE_H_
