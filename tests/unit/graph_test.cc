#include "engine/graph.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/ops/ops.h"

namespace rekey {
namespace {

Catalog TwoEntries() {
  Catalog catalog;
  for (int i = 0; i < 2; ++i) {
    Entry entry;
    entry.shape = {4, 6};
    entry.strides = {6, 1};
    catalog.entries.push_back(entry);
  }
  return catalog;
}

TEST(Graph, EveryResultIsANodeOfProvenType) {
  const Catalog catalog = TwoEntries();
  TensorGraph graph(catalog);
  const auto halves = graph.Apply(*FindOp("chunk"), {1}, {0}, {}, 2);
  ASSERT_TRUE(halves.ok());
  ASSERT_EQ(*halves, (std::vector<TensorId>{2, 3}));
  EXPECT_EQ(graph.node(3).result, 1u);
  EXPECT_EQ(ToString(graph.type(3)), "f32[4, 3]");
  const auto joined = graph.Apply(*FindOp("cat"), {0}, {3, 1 + 1, 3}, {});
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(ToString(graph.type((*joined)[0])), "f32[12, 3]");
  EXPECT_EQ(graph.SourcesOf((*joined)[0]), (std::vector<uint32_t>{0}));
}

TEST(Graph, SourcesComeOnceInOrderOfUse) {
  const Catalog catalog = TwoEntries();
  TensorGraph graph(catalog);
  const TensorId zeros = graph.AddConstant({DType::kF32, {4, 6}}, std::string(4, '\0'), true, {});
  const auto joined = graph.Apply(*FindOp("stack"), {0}, {1, zeros, 0, 1}, {});
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(graph.SourcesOf((*joined)[0]), (std::vector<uint32_t>{1, 0}));
  EXPECT_TRUE(graph.SourcesOf(zeros).empty());
}

TEST(Graph, ErrorsStandAtTheOperation) {
  const Catalog catalog = TwoEntries();
  TensorGraph graph(catalog);
  const Source source("a.rekey", "| squeeze(0)");
  const auto wrong = graph.Apply(*FindOp("squeeze"), {0}, {0}, Span{&source, 2, 12});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().name, "wrong-shape");
  EXPECT_EQ(wrong.error().primary.span.Text(), "squeeze(0)");
  const auto two = graph.Apply(*FindOp("diff"), {}, {0}, {});
  ASSERT_FALSE(two.ok());
  EXPECT_EQ(two.error().message, "`diff` works on 2 tensors, not 1");
}

}  // namespace
}  // namespace rekey
