// Expressions: parsed, bound and evaluated; the values by hand, from the rules of the language.
#include "engine/expr.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/bind.h"
#include "engine/pattern.h"
#include "grammar/parser.h"

namespace rekey {
namespace {

// Holes: i = "12", z = "007" of {z:03}, w = "attn", and the regex groups \1 = "34", \2 = absent,
// \3 = "x/y".
class Expressions : public testing::Test {
 protected:
  Expressions() {
    Add("i", Variable::Kind::kInt, "12");
    Add("z", Variable::Kind::kInt, "007", 3);
    Add("w", Variable::Kind::kText, "attn");
    Add("\\1", Variable::Kind::kGroup, "34");
    Add("\\2", Variable::Kind::kGroup, std::string_view());
    Add("\\3", Variable::Kind::kGroup, "x/y");
    type_ = {DType::kBF16, {4, 6, 8}};
    auto table = std::make_shared<TableValues>();
    table->name = "first";
    table->keys = {"0", "1", "attn"};
    table->values = {{"0", 0}, {"1", 7}, {"attn", "attention"}};
    Declared declared;
    declared.kind = Declared::Kind::kTable;
    declared.name = "first";
    declared.table = table;
    names_.Declare(std::move(declared), &diagnostics_);
  }

  void Add(const char* name, Variable::Kind kind, std::string_view text, int digits = 0) {
    Variable variable;
    variable.name = name;
    variable.kind = kind;
    variable.min_digits = digits;
    variables_.push_back(variable);
    texts_.push_back(text);
  }

  BindPlace Where() {
    BindPlace place;
    place.variables = &variables_;
    place.groups = &groups_;
    place.tensor = true;
    place.keys = true;
    return place;
  }

  Env Values() {
    Env env;
    env.variables = &texts_;
    env.tensor = &type_;
    env.has = &has_;
    return env;
  }

  // The value as written, or "error: message [name]".
  std::string Evaluate(const std::string& text) {
    const auto source = std::make_shared<Source>("expr", text);
    const ParseExprResult parsed = ParseExpr(source);
    EXPECT_FALSE(HasErrors(parsed.diagnostics)) << text;
    Diagnostics errors;
    Binder binder(&names_, MetaSource(), &errors);
    const Code code = binder.Bind(parsed.expr, Where());
    if (!errors.empty()) return "compile error: " + errors[0].name;
    const Result<Value> value = code.Evaluate(Values());
    return value.ok() ? ToString(*value) : "error: " + value.error().name;
  }

  std::string Print(const std::string& target) {
    const auto source = std::make_shared<Source>("a.rekey", "map a -> " + target + "\n");
    const ParseResult parsed = Parse(source);
    EXPECT_FALSE(HasErrors(parsed.diagnostics)) << target;
    const auto& rule = std::get<ast::Rule>(parsed.file.statements[0].node);
    Diagnostics errors;
    Binder binder(&names_, MetaSource(), &errors);
    const KeyTarget bound = binder.BindTarget(rule.targets[0], Where());
    if (!errors.empty()) return "compile error: " + errors[0].name;
    std::string key;
    const Status status = bound.Print(Values(), &key);
    return status.ok() ? key : "error: " + status.error().name;
  }

  std::vector<Variable> variables_;
  std::vector<std::string_view> texts_;
  std::vector<int> groups_ = {-1, 3, 4, 5};
  TensorType type_;
  std::function<bool(std::string_view)> has_ = [](std::string_view key) { return key == "a.attn"; };
  Names names_;
  Diagnostics diagnostics_;
};

struct Case {
  const char* text;
  const char* value;
};

TEST_F(Expressions, HaveTheseValues) {
  const std::vector<Case> cases = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"10 - 2 - 3", "5"},
      {"12 / 4 / 3", "1"},
      {"i + 1", "13"},
      {"i / 4", "3"},
      {"i / 5", "error: division"},
      {"i // 5", "2"},
      {"-i // 5", "-3"},
      {"-i % 5", "3"},
      {"i % -5", "-3"},
      {"i / 0", "error: division"},
      {"i // 0", "error: division"},
      {"i % 0", "error: division"},
      {"z + 1", "8"},
      {"\\1 + 1", "35"},
      {"\\2 + 1", "error: text-in-arithmetic"},
      {"\\3 + 1", "error: text-in-arithmetic"},
      {"w + 1", "compile error: text-in-arithmetic"},
      {"1 / 2", "compile error: division"},
      {"1.0 / 2", "0.5"},
      {"16.0 / 8", "2.0"},
      {"7.0 // 2", "3.0"},
      {"9223372036854775807 + i", "error: overflow"},
      {"9223372036854775807 + 1", "compile error: overflow"},
      {"-9223372036854775807 - 1", "-9223372036854775808"},
      {"(-9223372036854775807 - 1) / -1", "compile error: overflow"},
      {"(-9223372036854775807 - 1) // -1", "compile error: overflow"},
      {"(-9223372036854775807 - 1) % -1", "0"},
      {"9223372036854775807 * i", "error: overflow"},
      {"i == 12", "true"},
      {"i != 12", "false"},
      {"i == 12.0", "true"},
      {"i < 12", "false"},
      {"i <= 12", "true"},
      {"9007199254740993 == 9007199254740992.0", "false"},
      {"\\1 == 34", "true"},
      {"\\1 == \"34\"", "true"},
      {"\\2 == \"\"", "true"},
      {"w == \"attn\"", "true"},
      {"w == 3", "compile error: type-mismatch"},
      {"w < \"b\"", "compile error: type-mismatch"},
      {"not i == 3 and w == \"attn\"", "true"},
      {"i == 12 or i / 0 == 1", "true"},
      {"i == 3 and i / 0 == 1", "false"},
      {"true or 1 / 0 == 1", "true"},
      {"i and true", "compile error: type-mismatch"},
      {"rank", "3"},
      {"dim(0)", "4"},
      {"dim(-1)", "8"},
      {"dim(3)", "error: no-dimension"},
      {"dim(-4)", "error: no-dimension"},
      {"dim(0) / 2 * 3", "6"},
      {"dtype == bf16", "true"},
      {"dtype == f32", "false"},
      {"dtype == 3", "compile error: type-mismatch"},
      {"has(a.{w})", "true"},
      {"has(b.{w})", "false"},
      {"first(w)", "\"attention\""},
      {"first(1) + 1", "8"},
      {"first(i)", "error: not-in-table"},
      {"dots(\\3)", "\"x.y\""},
      {"slashes(\"a.b\")", "\"a/b\""},
      {"[1, i, \\1]", "[1, 12, 34]"},
      {"meta(\"x\", 4)", "4"},
      {"meta(\"x\")", "error: missing-meta"},
  };
  for (const Case& each : cases) EXPECT_EQ(Evaluate(each.text), each.value) << each.text;
}

TEST_F(Expressions, PrintAsText) {
  const std::vector<Case> cases = {
      {"a.{i}", "a.12"},
      {"a.{z}", "a.7"},  // {z:03} is a number
      {"a.{z:03}", "a.007"},
      {"a.{i:03}", "a.012"},
      {"a.{i:01}", "a.12"},
      {"a\\1", "a34"},
      {"a\\2.b", "a.b"},  // a group that took no part is empty
      {"a.{\\1:04}", "a.0034"},
      {"{w}.{i - 12}", "attn.0"},
      {"{w}.{i - 13}", "error: negative-number"},
      {"{w:03}", "compile error: type-mismatch"},
      {"x{4.0 / 2}", "x2"},
      {"x{1.5}", "compile error: type-mismatch"},
      {"x{i == 3}", "compile error: type-mismatch"},
      {"{first(w)}.{first(0)}", "attention.0"},
  };
  for (const Case& each : cases) EXPECT_EQ(Print(each.text), each.value) << each.text;
}

TEST_F(Expressions, AMissingParamNamesBothWaysOut) {
  Code missing;
  missing.kind = Code::Kind::kMissing;
  missing.text = "heads";
  missing.args.push_back(ConstantCode("config.num_heads", Span()));
  const Result<Value> value = missing.Evaluate(Env());
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().name, "missing-param");
  const std::string said = Render(value.error(), false);
  EXPECT_NE(said.find("-p heads="), std::string::npos) << said;
  EXPECT_NE(said.find("config.num_heads"), std::string::npos) << said;
}

TEST_F(Expressions, WholeFloatsAreIntegersWhereOneIsAskedFor) {
  EXPECT_EQ(*ConstantCode(3.0, Span()).EvaluateInt(Env()), 3);
  EXPECT_FALSE(ConstantCode(3.5, Span()).EvaluateInt(Env()).ok());
  EXPECT_FALSE(ConstantCode(1e300, Span()).EvaluateInt(Env()).ok());
  EXPECT_FALSE(ConstantCode("3", Span()).EvaluateInt(Env()).ok());
}

TEST(Values, AreWrittenAsTheLanguageWritesThem) {
  EXPECT_EQ(ToString(Value(0.1)), "0.1");
  EXPECT_EQ(ToString(Value(2.0)), "2.0");
  EXPECT_EQ(ToString(Value("a\"b\\c")), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(ToString(Value(ValueList{1, 2.5, true, DType::kBF16})), "[1, 2.5, true, bf16]");
}

}  // namespace
}  // namespace rekey
