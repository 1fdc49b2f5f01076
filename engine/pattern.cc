#include "engine/pattern.h"

#include <algorithm>
#include <array>

#include "engine/arithmetic.h"
#include "engine/regex.h"

namespace rekey {

bool KeyPattern::Match(std::string_view key, std::vector<std::string_view>* variables) const {
  variables->assign(groups.size(), std::string_view());
  if (!key.starts_with(prefix)) return false;
  if (is_literal) return key.size() == prefix.size();
  // RE2 fills an array of matches; most rules have a few groups.
  constexpr int kFew = 16;
  std::array<re2::StringPiece, kFew> few;
  std::vector<re2::StringPiece> many;
  const int count = re->NumberOfCapturingGroups() + 1;
  re2::StringPiece* matches = few.data();
  if (count > kFew) {
    many.resize(static_cast<size_t>(count));
    matches = many.data();
  }
  const re2::StringPiece text(key.data(), key.size());
  if (!re->Match(text, 0, key.size(), re2::RE2::ANCHOR_BOTH, matches, count)) return false;
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i] >= 0)
      (*variables)[i] = std::string_view(matches[groups[i]].data(), matches[groups[i]].size());
  return true;
}

KeyTarget::Part::Part(const Part& other)
    : text(other.text),
      code(other.code ? std::make_unique<Code>(*other.code) : nullptr),
      pad(other.pad) {}

KeyTarget::Part& KeyTarget::Part::operator=(const Part& other) {
  if (this == &other) return *this;
  text = other.text;
  code = other.code ? std::make_unique<Code>(*other.code) : nullptr;
  pad = other.pad;
  return *this;
}

namespace {

Status PrintNumber(const Code& code, int64_t number, int pad, std::string* out) {
  if (number < 0)
    return Error("negative-number",
                 "the number is " + std::to_string(number) + ", and a key holds numbers from 0")
        .At(code.span);
  const std::string digits = std::to_string(number);
  if (static_cast<size_t>(pad) > digits.size())
    out->append(static_cast<size_t>(pad) - digits.size(), '0');
  *out += digits;
  return {};
}

Status PrintPart(const KeyTarget::Part& part, const Env& env, std::string* out) {
  const Code& code = *part.code;
  if (part.pad > 0) {
    Result<int64_t> number = code.EvaluateInt(env);
    if (!number.ok()) return std::move(number).error();
    return PrintNumber(code, *number, part.pad, out);
  }
  if (code.kind == Code::Kind::kVariable && !code.decimal) {
    *out += (*env.variables)[static_cast<size_t>(code.index)];
    return {};
  }
  Result<Value> value = code.Evaluate(env);
  if (!value.ok()) return std::move(value).error();
  if (const std::string* text = value->text()) {
    *out += *text;
    return {};
  }
  if (const auto whole = WholeNumber(*value)) return PrintNumber(code, *whole, 0, out);
  return Error("type-mismatch", ToString(*value) + " is " + std::string(TypeName(*value)) +
                                    "; a key is made of texts and integers")
      .At(code.span);
}

}  // namespace

Status KeyTarget::Print(const Env& env, std::string* out) const {
  for (const Part& part : parts) {
    if (!part.code) {
      *out += part.text;
    } else if (Status printed = PrintPart(part, env, out); !printed.ok()) {
      return printed;
    }
  }
  return {};
}

bool KeyTarget::is_literal() const {
  return std::none_of(parts.begin(), parts.end(),
                      [](const Part& part) { return part.code != nullptr; });
}

}  // namespace rekey
