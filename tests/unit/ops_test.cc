// The operation table: arguments, types, and what goes wrong with them.
#include "engine/ops/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/lower_ops.h"

namespace rekey {
namespace {

using ::testing::HasSubstr;

ValueList List(std::vector<int64_t> values) { return ValueList(values.begin(), values.end()); }

// The types of the results, or the message and helps of the error.
std::string Infer(const char* name, OpArgs args, std::vector<TensorType> in, uint32_t results = 1) {
  const OpInfo* op = FindOp(name);
  args.resize(op->params.size(), ValueList{});
  const Result<std::vector<TensorType>> types = op->infer(args, in, results);
  std::string text;
  if (!types.ok()) {
    text = "error: " + types.error().message;
    for (const std::string& help : types.error().helps) text += "; " + help;
    return text;
  }
  for (const TensorType& type : *types) text += (text.empty() ? "" : " ") + ToString(type);
  return text;
}

TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

TEST(Ops, NamesAreUniqueAndEveryLayoutOperationIsLowered) {
  std::set<std::string> names;
  for (const OpInfo& op : Ops()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_EQ(FindOp(op.name), &op);
    EXPECT_NE(op.infer, nullptr) << op.name;
    EXPECT_EQ(FindLayoutOp(op.name) != nullptr, op.kind == OpKind::kLayout) << op.name;
    EXPECT_EQ(std::string(op.signature).rfind(op.name, 0), 0u) << op.signature;
    for (size_t i = 0; i < op.params.size(); ++i) {
      EXPECT_TRUE(!op.params[i].variadic || i + 1 == op.params.size()) << op.name;
    }
  }
  EXPECT_EQ(names.size(), 29u);  // the table of the language
  EXPECT_EQ(FindOp("view"), nullptr);
}

TEST(Ops, OneTensor) {
  EXPECT_EQ(Infer("transpose", {}, {F32({2, 3})}), "f32[3, 2]");
  EXPECT_EQ(Infer("transpose", {1, -1}, {F32({2, 3, 4})}), "f32[2, 4, 3]");
  EXPECT_THAT(Infer("transpose", {}, {F32({3, 3, 16, 32})}), HasSubstr("permute(3, 2, 0, 1)"));
  EXPECT_EQ(Infer("permute", {List({3, 2, 0, 1})}, {F32({3, 4, 16, 32})}), "f32[32, 16, 3, 4]");
  EXPECT_THAT(Infer("permute", {List({0, 0})}, {F32({2, 3})}), HasSubstr("each dimension"));
  EXPECT_THAT(Infer("permute", {List({0, 5})}, {F32({2, 3})}),
              HasSubstr("there is no dimension 5 in f32[2, 3]"));
  EXPECT_EQ(Infer("reshape", {List({8, 64, 2, -1})}, {F32({1024, 4096})}), "f32[8, 64, 2, 4096]");
  EXPECT_THAT(Infer("reshape", {List({7, -1})}, {F32({4, 4})}), HasSubstr("16 elements"));
  EXPECT_THAT(Infer("reshape", {List({-1, -1})}, {F32({4})}), HasSubstr("only one"));
  EXPECT_THAT(Infer("reshape", {List({0, -1})}, {F32({0})}), HasSubstr("could be anything"));
  EXPECT_EQ(Infer("unflatten", {0, List({2, -1, 2})}, {F32({12, 5})}), "f32[2, 3, 2, 5]");
  EXPECT_EQ(Infer("flatten", {0, 2}, {F32({2, 3, 2, 5})}), "f32[12, 5]");
  EXPECT_THAT(Infer("flatten", {1, 0}, {F32({2, 3})}), HasSubstr("ends before it begins"));
  EXPECT_EQ(Infer("squeeze", {1}, {F32({2, 1, 3})}), "f32[2, 3]");
  EXPECT_THAT(Infer("squeeze", {0}, {F32({2, 1, 3})}), HasSubstr("size 2, not 1"));
  EXPECT_EQ(Infer("unsqueeze", {-1}, {F32({2, 3})}), "f32[2, 3, 1]");
  EXPECT_EQ(Infer("unsqueeze", {0}, {F32({})}), "f32[1]");
  EXPECT_EQ(Infer("slice", {0, List({2, 9}), 3}, {F32({10, 2})}), "f32[3, 2]");
  EXPECT_EQ(Infer("slice", {0, List({4, 4})}, {F32({10})}), "f32[0]");
  EXPECT_THAT(Infer("slice", {0, List({0, 11})}, {F32({10})}), HasSubstr("0 <= a <= b <= 10"));
  EXPECT_EQ(Infer("take", {1, List({2, 0})}, {F32({4, 3})}), "f32[4, 2]");
  EXPECT_THAT(Infer("take", {1, List({3})}, {F32({4, 3})}), HasSubstr("its indices are 0 to 2"));
  EXPECT_EQ(Infer("reorder", {0, List({1, 0, 2})}, {F32({6, 3})}), "f32[6, 3]");
  EXPECT_THAT(Infer("reorder", {0, List({1, 0, 1})}, {F32({6})}), HasSubstr("no permutation"));
  EXPECT_THAT(Infer("reorder", {0, List({1, 0, 2})}, {F32({7})}), HasSubstr("do not divide"));
  EXPECT_EQ(Infer("pad", {0, 8}, {F32({5, 2})}), "f32[8, 2]");
  EXPECT_THAT(Infer("pad", {0, 4}, {F32({5, 2})}), HasSubstr("slice(0, 0..4)"));
  EXPECT_EQ(Infer("repeat", {1, 3}, {F32({5, 2})}), "f32[5, 6]");
  EXPECT_EQ(Infer("cast", {DType::kBF16}, {F32({5})}), "bf16[5]");
  EXPECT_THAT(Infer("cast", {DType::kF32}, {{DType::kC64, {2}}}), HasSubstr("imaginary"));
  EXPECT_THAT(Infer("scale", {0.5}, {{DType::kI64, {2}}}), HasSubstr("integers"));
  EXPECT_EQ(Infer("scale", {2}, {{DType::kI64, {2}}}), "i64[2]");
}

TEST(Ops, ManyToOne) {
  EXPECT_EQ(Infer("cat", {0}, {F32({3, 2}), F32({5, 2})}), "f32[8, 2]");
  EXPECT_THAT(Infer("cat", {0}, {F32({3, 2}), F32({5, 3})}), HasSubstr("piece 1 is [5, 3]"));
  EXPECT_THAT(Infer("cat", {0}, {F32({3, 2}), {DType::kF16, {3, 2}}}), HasSubstr("one type"));
  EXPECT_EQ(Infer("stack", {0}, {F32({3, 2}), F32({3, 2})}), "f32[2, 3, 2]");
  EXPECT_EQ(Infer("stack", {-1}, {F32({3, 2}), F32({3, 2})}), "f32[3, 2, 2]");
  EXPECT_THAT(Infer("stack", {0}, {F32({3}), F32({2})}), HasSubstr("equal shapes"));
  EXPECT_EQ(Infer("same", {}, {F32({3}), F32({3})}), "f32[3]");
  EXPECT_THAT(Infer("same", {}, {F32({3}), F32({4})}), HasSubstr("piece 1 is f32[4]"));
  EXPECT_THAT(Infer("mean", {}, {{DType::kI32, {2}}}), HasSubstr("no integer"));
}

TEST(Ops, Dequantisation) {
  const TensorType weight{DType::kF8E4M3, {256, 200}};
  EXPECT_EQ(Infer("dequant_block", {128, 128}, {weight, F32({2, 2})}), "f32[256, 200]");
  EXPECT_THAT(Infer("dequant_block", {128, 128}, {weight, F32({2, 1})}), HasSubstr("2 x 2 scales"));
  EXPECT_THAT(Infer("dequant_block", {}, {weight, F32({2, 3})}),
              HasSubstr("cannot tell the block"));
  EXPECT_EQ(Infer("dequant_block", {}, {weight, F32({2, 4})}), "f32[256, 200]");
  EXPECT_EQ(Infer("dequant_mxfp4", {}, {{DType::kU8, {4, 3, 16}}, {DType::kU8, {4, 3}}}),
            "f32[4, 96]");
  EXPECT_EQ(Infer("lora", {2.0}, {{DType::kBF16, {8, 6}}, F32({2, 6}), F32({8, 2})}), "bf16[8, 6]");
  EXPECT_THAT(Infer("lora", {2.0}, {F32({8, 6}), F32({8, 2}), F32({2, 6})}),
              HasSubstr("[weight, A, B]"));
}

TEST(Ops, OneToMany) {
  EXPECT_EQ(Infer("chunk", {0}, {F32({6, 2})}, 3), "f32[2, 2] f32[2, 2] f32[2, 2]");
  EXPECT_THAT(Infer("chunk", {0}, {F32({7, 2})}, 3), HasSubstr("do not divide"));
  EXPECT_EQ(Infer("sections", {1, List({4, 1, 1})}, {F32({2, 6})}, 3),
            "f32[2, 4] f32[2, 1] f32[2, 1]");
  EXPECT_THAT(Infer("sections", {1, List({4, 1})}, {F32({2, 6})}, 2), HasSubstr("add up to 5"));
  EXPECT_THAT(Infer("sections", {1, List({4, 2})}, {F32({2, 6})}, 3), HasSubstr("2 sizes for 3"));
  EXPECT_EQ(Infer("unstack", {-1}, {F32({6, 2})}, 2), "f32[6] f32[6]");
  EXPECT_THAT(Infer("unstack", {0}, {F32({6, 2})}, 2), HasSubstr("has 6"));
}

std::string Match(const char* name, std::vector<ArgShape> written) {
  const Result<std::vector<int>> matched = MatchArgs(*FindOp(name), written);
  std::string text;
  if (matched.ok()) {
    for (int at : *matched) text += (text.empty() ? "" : " ") + std::to_string(at);
    return text;
  }
  text = matched.error().message;
  for (const std::string& more : matched.error().notes) text += "; " + more;
  for (const std::string& more : matched.error().helps) text += "; " + more;
  return text;
}

TEST(Ops, ArgumentsAreMatchedByPlaceAndName) {
  EXPECT_EQ(Match("slice", {{"", false}, {"", true}}), "0 1 -1");
  EXPECT_EQ(Match("slice", {{"", false}, {"", true}, {"step", false}}), "0 1 2");
  EXPECT_EQ(Match("pad", {{"n", false}, {"d", false}}), "1 0 -1");
  EXPECT_EQ(Match("permute", {{"", false}, {"", false}, {"", false}}), "0");
  EXPECT_THAT(Match("slice", {{"", false}, {"", false}}), HasSubstr("is a range"));
  EXPECT_THAT(Match("flip", {{"", true}}), HasSubstr("cannot be a range"));
  EXPECT_THAT(Match("flip", {}), HasSubstr("needs its argument `d`; it is flip(d)"));
  EXPECT_THAT(Match("cast", {{"", false}, {"owerflow", false}}),
              HasSubstr("did you mean `overflow`?"));
  EXPECT_THAT(Match("cast", {{"overflow", false}, {"", false}}), HasSubstr("follows one with"));
  EXPECT_THAT(Match("roll", {{"", false}, {"d", false}}), HasSubstr("given twice"));
  EXPECT_THAT(Match("chunk", {{"", false}, {"", false}}),
              HasSubstr("the number of pieces is the number of targets"));
  EXPECT_THAT(Match("diff", {{"", false}}), HasSubstr("takes no arguments"));
}

TEST(Ops, ArgumentsAreBoundToTypes) {
  const auto bind = [](const char* name, std::vector<int> matched, std::vector<Value> written) {
    Result<OpArgs> args = BindArgs(*FindOp(name), matched, written);
    if (!args.ok()) return args.error().message;
    std::string text;
    for (const Value& arg : *args) text += (text.empty() ? "" : " ") + ToString(arg);
    return text;
  };
  EXPECT_EQ(bind("pad", {0, 1, -1}, {0, 12.0}), "0 12 []");
  EXPECT_EQ(bind("permute", {0}, {1, 0}), "[1, 0]");
  EXPECT_EQ(bind("cast", {0, -1}, {"bf16"}), "bf16 []");
  EXPECT_THAT(bind("cast", {0, -1}, {"float17"}), HasSubstr("an element type"));
  EXPECT_THAT(bind("flip", {0}, {"x"}), HasSubstr("is an integer, not \"x\""));
  EXPECT_THAT(bind("pad", {0, 1, 2}, {0, 3, "one"}), HasSubstr("`zero` or `repeat_last`"));
  EXPECT_THAT(bind("take", {0, 1}, {0, 3}), HasSubstr("a list of integers"));
}

}  // namespace
}  // namespace rekey
