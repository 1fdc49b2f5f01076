// Recipes and pieces of expressions, and the elements they put where; right values by hand, many
// from the acceptance cases of checkpoints people convert.
#include "engine/lower.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <vector>

#include "engine/ops/ops.h"
#include "engine/work.h"

namespace rekey {
namespace {

using ::testing::HasSubstr;

ValueList List(std::vector<int64_t> values) { return ValueList(values.begin(), values.end()); }

// A catalog of row-major tensors, one after another in one file's storage each.
class Checkpoint {
 public:
  Checkpoint() { catalog_.files.push_back({}); }

  TensorId Add(DType dtype, Shape shape, std::string key = "w") {
    Entry entry;
    entry.key = catalog_.text->Add(key);
    entry.dtype = dtype;
    entry.shape = shape;
    entry.strides = ContiguousStrides(shape);
    entry.storage = static_cast<uint32_t>(catalog_.storages.size());
    Storage storage;
    storage.bytes = storage.stored_bytes = static_cast<uint64_t>(*NumBytes(dtype, shape));
    if (!catalog_.storages.empty()) {
      storage.offset = catalog_.storages.back().offset + catalog_.storages.back().bytes;
    }
    catalog_.storages.push_back(storage);
    catalog_.entries.push_back(entry);
    return static_cast<TensorId>(catalog_.entries.size() - 1);
  }

  Catalog& catalog() { return catalog_; }

 private:
  Catalog catalog_;
};

TensorId Apply(TensorGraph* graph, const char* name, OpArgs args, std::vector<TensorId> inputs) {
  const OpInfo* op = FindOp(name);
  args.resize(op->params.size(), ValueList{});
  Result<std::vector<TensorId>> ids = graph->Apply(*op, std::move(args), std::move(inputs), {});
  EXPECT_TRUE(ids.ok()) << Render(ids.error(), false);
  return (*ids)[0];
}

std::vector<TensorId> Split(TensorGraph* graph, const char* name, OpArgs args, TensorId input,
                            uint32_t results) {
  Result<std::vector<TensorId>> ids =
      graph->Apply(*FindOp(name), std::move(args), {input}, {}, results);
  EXPECT_TRUE(ids.ok()) << Render(ids.error(), false);
  return *ids;
}

Lowered LowerOk(const TensorGraph& graph, TensorId id) {
  Result<Lowered> lowered = Lower(graph, id);
  EXPECT_TRUE(lowered.ok()) << Render(lowered.error(), false);
  return *std::move(lowered);
}

// The i64 values that `id` holds when the file's elements are 0, 1, 2, ...
std::vector<int64_t> Values(Checkpoint* checkpoint, const TensorGraph& graph, TensorId id) {
  const Lowered lowered = LowerOk(graph, id);
  std::string in = ::testing::TempDir() + "lower-in-XXXXXX";
  std::string out = ::testing::TempDir() + "lower-out-XXXXXX";
  const int in_fd = mkstemp(in.data()), out_fd = mkstemp(out.data());
  const Storage& last = checkpoint->catalog().storages.back();
  std::vector<int64_t> numbers((last.offset + last.bytes) / 8);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_TRUE(WriteAt(in_fd, 0, numbers.data(), numbers.size() * 8).ok());
  close(in_fd);
  checkpoint->catalog().files[0] = InputFile::Open(in)->info();
  Worker worker(checkpoint->catalog());
  for (const Tile& tile : TilesOf(lowered)) {
    EXPECT_TRUE(MoveTile(lowered, tile, {out_fd, 0}, &worker).ok());
  }
  std::vector<int64_t> values(lowered.bytes / 8);
  EXPECT_EQ(pread(out_fd, values.data(), lowered.bytes, 0), static_cast<ssize_t>(lowered.bytes));
  close(out_fd);
  unlink(in.c_str());
  unlink(out.c_str());
  return values;
}

TEST(Lower, AnEntryIsOneCopy) {
  Checkpoint checkpoint;
  checkpoint.Add(DType::kF32, {10, 64});
  checkpoint.catalog().entries[0].start = 0;
  TensorGraph graph(checkpoint.catalog());
  const Lowered lowered = LowerOk(graph, 0);
  EXPECT_EQ(lowered.recipe, Recipe::kCopy);
  ASSERT_EQ(lowered.pieces.size(), 1u);
  EXPECT_EQ(BytesOf(lowered.pieces[0]), 2560u);
  EXPECT_EQ(lowered.pieces[0].dims, (std::vector<PieceDim>{{2560, 1, 1}}));
}

TEST(Lower, OuterJoinsAndCutsAreCopies) {
  Checkpoint checkpoint;
  const TensorId a = checkpoint.Add(DType::kF32, {256, 128});
  const TensorId b = checkpoint.Add(DType::kF32, {256, 128});
  TensorGraph graph(checkpoint.catalog());
  const Lowered cat = LowerOk(graph, Apply(&graph, "cat", {0}, {a, b}));
  EXPECT_EQ(cat.recipe, Recipe::kCopy);
  ASSERT_EQ(cat.pieces.size(), 2u);
  EXPECT_EQ(cat.pieces[1].storage, 1u);
  EXPECT_EQ(cat.pieces[1].target, 131072u);
  const Lowered slice = LowerOk(graph, Apply(&graph, "slice", {0, List({128, 256})}, {a}));
  EXPECT_EQ(slice.recipe, Recipe::kCopy);
  ASSERT_EQ(slice.pieces.size(), 1u);
  EXPECT_EQ(slice.pieces[0].source, 65536u);
}

TEST(Lower, ACutThatIsJoinedAgainIsOneCopy) {
  Checkpoint checkpoint;
  const TensorId a = checkpoint.Add(DType::kF32, {6, 5, 4});
  TensorGraph graph(checkpoint.catalog());
  for (int64_t dim = 0; dim < 3; ++dim) {
    const auto parts = Split(&graph, "sections", {dim, List({1, 1, 2})},
                             Apply(&graph, "slice", {dim, List({0, 4})}, {a}), 3);
    const Lowered whole = LowerOk(graph, Apply(&graph, "cat", {dim}, parts));
    EXPECT_EQ(whole.pieces.size(), 1u) << dim;
  }
  const auto rows = Split(&graph, "unstack", {1}, a, 5);
  const Lowered again = LowerOk(graph, Apply(&graph, "stack", {1}, rows));
  EXPECT_EQ(again.recipe, Recipe::kCopy);
  EXPECT_EQ(again.pieces.size(), 1u);
}

TEST(Lower, AChainIsOneMove) {
  Checkpoint checkpoint;
  const TensorId a = checkpoint.Add(DType::kBF16, {3, 3, 16, 32});
  TensorGraph graph(checkpoint.catalog());
  const Lowered kernel = LowerOk(graph, Apply(&graph, "permute", {List({3, 2, 0, 1})}, {a}));
  EXPECT_EQ(kernel.recipe, Recipe::kMove);
  ASSERT_EQ(kernel.pieces.size(), 1u);
  // [out, in, 9] in the target from [9, in, out]: height and width are one dimension.
  EXPECT_EQ(kernel.pieces[0].unit, 2u);
  EXPECT_EQ(kernel.pieces[0].dims,
            (std::vector<PieceDim>{{32, 2, 16 * 18}, {16, 64, 18}, {9, 1024, 2}}));
  const TensorId back = Apply(&graph, "permute", {List({2, 3, 1, 0})},
                              {Apply(&graph, "permute", {List({3, 2, 0, 1})}, {a})});
  EXPECT_EQ(LowerOk(graph, back).recipe, Recipe::kCopy);
}

TEST(Lower, RotaryRows) {
  // Two heads of six rows: pairs (0, 1), (2, 3), ... become halves.
  Checkpoint checkpoint;
  TensorId w = checkpoint.Add(DType::kI64, {12});
  TensorGraph graph(checkpoint.catalog());
  w = Apply(&graph, "unflatten", {0, List({2, -1, 2})}, {w});
  w = Apply(&graph, "transpose", {1, 2}, {w});
  w = Apply(&graph, "flatten", {0, 2}, {w});
  EXPECT_EQ(Values(&checkpoint, graph, w),
            (std::vector<int64_t>{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
  EXPECT_EQ(LowerOk(graph, w).pieces.size(), 1u);
}

TEST(Lower, DenseAfterFlattenOfChannelsLast) {
  Checkpoint checkpoint;
  TensorId w = checkpoint.Add(DType::kI64, {12, 1});
  TensorGraph graph(checkpoint.catalog());
  w = Apply(&graph, "reshape", {List({2, 3, 2, 1})}, {w});
  w = Apply(&graph, "permute", {List({3, 2, 0, 1})}, {w});
  w = Apply(&graph, "reshape", {List({1, 12})}, {w});
  EXPECT_EQ(Values(&checkpoint, graph, w),
            (std::vector<int64_t>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST(Lower, QueryKeyValueOfGroups) {
  // Two groups of two query heads, key and value, two rows a head.
  Checkpoint checkpoint;
  TensorId qkv = checkpoint.Add(DType::kI64, {16});
  TensorGraph graph(checkpoint.catalog());
  qkv = Apply(&graph, "reshape", {List({2, 4, 2})}, {qkv});
  const auto parts = Split(&graph, "sections", {1, List({2, 1, 1})}, qkv, 3);
  const std::vector<std::vector<int64_t>> wanted = {
      {0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 12, 13}, {6, 7, 14, 15}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Values(&checkpoint, graph, parts[i]), wanted[i]);
  }
}

TEST(Lower, GateAndUpOfTwoRanks) {
  // Ranks [10, 20] and [11, 21], gate first in each: here elements 0, 1 and 2, 3.
  Checkpoint checkpoint;
  const TensorId a = checkpoint.Add(DType::kI64, {2}), b = checkpoint.Add(DType::kI64, {2});
  TensorGraph graph(checkpoint.catalog());
  const TensorId whole = Apply(&graph, "cat", {1},
                               {Apply(&graph, "reshape", {List({2, 1})}, {a}),
                                Apply(&graph, "reshape", {List({2, 1})}, {b})});
  const auto parts = Split(&graph, "unstack", {0}, whole, 2);
  EXPECT_EQ(Values(&checkpoint, graph, parts[0]), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(Values(&checkpoint, graph, parts[1]), (std::vector<int64_t>{1, 3}));
}

TEST(Lower, GateOrderPaddingAndRolling) {
  Checkpoint checkpoint;
  const TensorId w = checkpoint.Add(DType::kI64, {3, 2});
  TensorGraph graph(checkpoint.catalog());
  EXPECT_EQ(Values(&checkpoint, graph, Apply(&graph, "reorder", {0, List({1, 0, 2})}, {w})),
            (std::vector<int64_t>{2, 3, 0, 1, 4, 5}));
  EXPECT_EQ(Values(&checkpoint, graph, Apply(&graph, "pad", {1, 3}, {w})),
            (std::vector<int64_t>{0, 1, 0, 2, 3, 0, 4, 5, 0}));
  EXPECT_EQ(Values(&checkpoint, graph, Apply(&graph, "pad", {0, 4, "repeat_last"}, {w})),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 4, 5}));
  EXPECT_EQ(Values(&checkpoint, graph, Apply(&graph, "roll", {0, 1}, {w})),
            (std::vector<int64_t>{4, 5, 0, 1, 2, 3}));
  EXPECT_EQ(Values(&checkpoint, graph, Apply(&graph, "repeat", {1, 2}, {w})),
            (std::vector<int64_t>{0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5}));
}

TEST(Lower, Constants) {
  Checkpoint checkpoint;
  const TensorId w = checkpoint.Add(DType::kI64, {2});
  TensorGraph graph(checkpoint.catalog());
  const int64_t seven = 7, table[] = {1, 2, 3, 4};
  const TensorId all = graph.AddConstant(
      {DType::kI64, {2}}, std::string(reinterpret_cast<const char*>(&seven), 8), true, {});
  const TensorId square = graph.AddConstant(
      {DType::kI64, {2, 2}}, std::string(reinterpret_cast<const char*>(table), 32), false, {});
  EXPECT_EQ(Values(&checkpoint, graph, Apply(&graph, "cat", {0}, {w, all})),
            (std::vector<int64_t>{0, 1, 7, 7}));
  EXPECT_EQ(Values(&checkpoint, graph, Apply(&graph, "transpose", {}, {square})),
            (std::vector<int64_t>{1, 3, 2, 4}));
}

TEST(Lower, ManyExpertsAreOnePieceEach) {
  Checkpoint checkpoint;
  std::vector<TensorId> experts;
  for (int i = 0; i < 64; ++i) experts.push_back(checkpoint.Add(DType::kBF16, {8, 16}));
  TensorGraph graph(checkpoint.catalog());
  for (TensorId& id : experts) id = Apply(&graph, "transpose", {}, {id});
  EXPECT_EQ(LowerOk(graph, Apply(&graph, "stack", {0}, experts)).pieces.size(), 64u);
}

TEST(Lower, PiecesDoNotGrowWithTheTensor) {
  Checkpoint checkpoint;
  const TensorId w = checkpoint.Add(DType::kF32, {256, 6});
  TensorGraph graph(checkpoint.catalog());
  const auto rows = Split(&graph, "unstack", {0}, w, 256);
  std::vector<TensorId> backwards(rows.rbegin(), rows.rend());
  EXPECT_EQ(LowerOk(graph, Apply(&graph, "stack", {0}, backwards)).pieces.size(), 1u);
}

TEST(Lower, TypesBelowAByte) {
  Checkpoint checkpoint;
  const TensorId w = checkpoint.Add(DType::kF4, {4, 6});
  TensorGraph graph(checkpoint.catalog());
  EXPECT_EQ(LowerOk(graph, w).recipe, Recipe::kCopy);
  EXPECT_EQ(LowerOk(graph, Apply(&graph, "slice", {1, List({2, 4})}, {w})).bytes, 4u);
  for (const TensorId id :
       {Apply(&graph, "transpose", {}, {w}), Apply(&graph, "slice", {1, List({1, 3})}, {w})}) {
    const Result<Lowered> lowered = Lower(graph, id);
    ASSERT_FALSE(lowered.ok());
    EXPECT_EQ(lowered.error().name, "odd-bits");
    EXPECT_THAT(lowered.error().message, HasSubstr("f4 elements take 4 bits"));
  }
}

TEST(Lower, Refusals) {
  Checkpoint checkpoint;
  const TensorId meta = checkpoint.Add(DType::kF32, {4}, "head.weight");
  checkpoint.catalog().entries[meta].no_bytes = true;
  TensorGraph graph(checkpoint.catalog());
  const Result<Lowered> lowered = Lower(graph, meta);
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().name, "no-bytes");
  EXPECT_THAT(lowered.error().message, HasSubstr("`head.weight`"));
}

TEST(Lower, TheBudgetOfPiecesIsAnError) {
  // Rows in an order without a pattern.
  Checkpoint checkpoint;
  const TensorId w = checkpoint.Add(DType::kU8, {int64_t{1} << 22, 2});
  TensorGraph graph(checkpoint.catalog());
  std::vector<int64_t> scattered;
  uint64_t state = 1;
  for (int i = 0; i < 600000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    scattered.push_back(static_cast<int64_t>(state >> 42));
  }
  const Result<Lowered> lowered = Lower(graph, Apply(&graph, "take", {0, List(scattered)}, {w}));
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().name, "too-many-pieces");
}

}  // namespace
}  // namespace rekey
