#include "engine/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

namespace rekey {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::vector<int64_t> Values(const Dims& dims) { return {dims.begin(), dims.end()}; }

TEST(Dims, CopiesAndMovesShortAndLongLists) {
  for (size_t size : {0, 1, 5, 6, 7, 20}) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < size; ++i) values.push_back(static_cast<int64_t>(i * i));
    const Dims dims(values);
    Dims copy(dims);
    EXPECT_EQ(copy, dims);
    Dims assigned{1, 2, 3};
    assigned = copy;
    EXPECT_EQ(Values(assigned), values);
    assigned = *&assigned;
    EXPECT_EQ(Values(assigned), values);
    const Dims moved(std::move(copy));
    EXPECT_EQ(Values(moved), values);
    EXPECT_TRUE(copy.empty());  // NOLINT: the state after a move is promised
    copy.push_back(4);
    EXPECT_EQ(Values(copy), std::vector<int64_t>{4});
    Dims target(9, 7);
    target = std::move(assigned);
    EXPECT_EQ(Values(target), values);
  }
}

// Against std::vector, over random edits that cross the six in place.
TEST(Dims, EditsAsAVectorDoes) {
  std::mt19937 random(1);
  Dims dims;
  std::vector<int64_t> values;
  for (int step = 0; step < 5000; ++step) {
    const int64_t value = static_cast<int64_t>(random() % 100);
    switch (random() % 5) {
      case 0:
        dims.push_back(value);
        values.push_back(value);
        break;
      case 1: {
        const size_t at = random() % (values.size() + 1);
        dims.insert(at, value);
        values.insert(values.begin() + static_cast<std::ptrdiff_t>(at), value);
        break;
      }
      case 2:
      case 3: {
        if (values.empty()) break;
        const size_t at = random() % values.size();
        dims.erase(at);
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      default:
        if (random() % 50 != 0) break;
        dims.clear();
        values.clear();
    }
    ASSERT_EQ(Values(dims), values);
  }
}

TEST(Shape, NumElements) {
  EXPECT_EQ(NumElements({}), 1);
  EXPECT_EQ(NumElements({3, 3, 16, 32}), 4608);
  EXPECT_EQ(NumElements({2, 0, 5}), 0);
  EXPECT_EQ(NumElements({kMax}), kMax);
  EXPECT_EQ(NumElements({kMax, 1, 1}), kMax);
  EXPECT_EQ(NumElements({-1}), std::nullopt);
  EXPECT_EQ(NumElements({0, -1}), std::nullopt);
  EXPECT_EQ(NumElements({int64_t{1} << 32, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(NumElements({int64_t{1} << 31, int64_t{1} << 31, 2}), std::nullopt);
  EXPECT_EQ(NumElements({0, int64_t{1} << 62, 4}), std::nullopt);  // strides would overflow
  EXPECT_EQ(NumElements({kMax, kMax, kMax}), std::nullopt);
}

TEST(Shape, NumBytes) {
  EXPECT_EQ(NumBytes(DType::kF32, {10, 64}), 2560);
  EXPECT_EQ(NumBytes(DType::kC128, {}), 16);
  EXPECT_EQ(NumBytes(DType::kF4, {3, 2}), 3);
  EXPECT_EQ(NumBytes(DType::kF4, {3}), std::nullopt);
  EXPECT_EQ(NumBytes(DType::kF6E2M3, {4}), 3);
  EXPECT_EQ(NumBytes(DType::kF6E2M3, {2}), std::nullopt);
  EXPECT_EQ(NumBytes(DType::kU8, {kMax}), kMax);
  EXPECT_EQ(NumBytes(DType::kF16, {int64_t{1} << 62}), std::nullopt);
  EXPECT_EQ(NumBytes(DType::kF64, {0, 7}), 0);
}

TEST(Shape, Strides) {
  EXPECT_EQ(ContiguousStrides({}), Strides{});
  EXPECT_EQ(ContiguousStrides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(ContiguousStrides({2, 0, 4}), (Strides{4, 4, 1}));  // torch.empty(2, 0, 4).stride()
}

TEST(Shape, Contiguous) {
  EXPECT_TRUE(IsContiguous({}, {}));
  EXPECT_TRUE(IsContiguous({2, 3}, {3, 1}));
  EXPECT_FALSE(IsContiguous({2, 3}, {1, 2}));
  EXPECT_FALSE(IsContiguous({2, 3}, {4, 1}));
  EXPECT_FALSE(IsContiguous({3}, {0}));
  EXPECT_FALSE(IsContiguous({3}, {-1}));
  EXPECT_TRUE(IsContiguous({1, 3}, {77, 1}));
  EXPECT_TRUE(IsContiguous({3, 1}, {1, -5}));
  EXPECT_TRUE(IsContiguous({0, 3}, {1, 99}));
}

TEST(Shape, ToString) {
  EXPECT_EQ(ToString(Dims{}), "[]");
  EXPECT_EQ(ToString(Dims{3}), "[3]");
  EXPECT_EQ(ToString(Dims{2, 3}), "[2, 3]");
}

}  // namespace
}  // namespace rekey
