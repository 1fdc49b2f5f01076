// Random chains of layout operations, carried out from a file, against plain loops over indices.
//
// The reference below is a list of element numbers that each operation permutes, one index at a
// time, and shares nothing with the engine's boxes, pieces and tiles.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph.h"
#include "engine/lower.h"
#include "engine/ops/ops.h"
#include "engine/work.h"

namespace rekey {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kZero = -1;  // an element of padding

// A tensor as the numbers of the bytes that its elements start at.
struct Naive {
  Sizes shape;
  std::vector<int64_t> from;
};

int64_t Count(const Sizes& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// The index with number `k` in row-major order.
Sizes IndexOf(const Sizes& shape, int64_t k) {
  Sizes index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = k % shape[d];
    k /= shape[d];
  }
  return index;
}

int64_t NumberOf(const Sizes& shape, const Sizes& index) {
  int64_t k = 0;
  for (size_t d = 0; d < shape.size(); ++d) k = k * shape[d] + index[d];
  return k;
}

// A tensor of `shape` whose element at an index is what `pick(index)` says.
template <typename Pick>
Naive Make(const Sizes& shape, const Pick& pick) {
  Naive result{shape, {}};
  for (int64_t k = 0; k < Count(shape); ++k) result.from.push_back(pick(IndexOf(shape, k)));
  return result;
}

int64_t At(const Naive& tensor, const Sizes& index) {
  return tensor.from[static_cast<size_t>(NumberOf(tensor.shape, index))];
}

// `in` with index `d` replaced by what `pick` makes of it.
template <typename Pick>
Naive Along(const Naive& in, size_t d, int64_t size, const Pick& pick) {
  Sizes shape = in.shape;
  shape[d] = size;
  return Make(shape, [&](Sizes index) {
    const int64_t at = pick(index[d]);
    if (at < 0) return kZero;
    index[d] = at;
    return At(in, index);
  });
}

ValueList List(const Sizes& values) { return ValueList(values.begin(), values.end()); }

class Chain {
 public:
  explicit Chain(uint32_t seed) : random_(seed) {}

  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool Chance(int percent) { return Pick(1, 100) <= percent; }

  // A file of random bytes and entries that lie in it, some strided, some expanded.
  void MakeSources() {
    const DType types[] = {DType::kU8, DType::kBF16, DType::kF32, DType::kF64, DType::kC128};
    dtype_ = types[Pick(0, 4)];
    width_ = BitsOf(dtype_) / 8;
    catalog_.files.push_back({});
    Sizes shape;
    const int64_t rank = Pick(0, 5);
    const bool empty = Chance(4);
    for (int64_t d = 0; d < rank; ++d) shape.push_back(Chance(25) ? 1 : Pick(empty ? 0 : 1, 7));
    const int64_t count = Pick(1, 3);
    for (int64_t i = 0; i < count; ++i) AddSource(shape);
    text_.resize(static_cast<size_t>(bytes_));
    for (char& c : text_) c = static_cast<char>(Pick(-128, 127));
  }

  void AddSource(Sizes shape) {
    Entry entry;
    entry.dtype = dtype_;
    entry.storage = static_cast<uint32_t>(catalog_.storages.size());
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (Chance(30)) std::shuffle(order.begin(), order.end(), random_);
    Sizes strides(shape.size(), 0);
    int64_t stride = 1;
    for (size_t k = order.size(); k-- > 0;) {
      if (Chance(8)) continue;  // expanded: stride 0
      strides[order[k]] = stride;
      stride *= std::max<int64_t>(shape[order[k]], 1);
      if (Chance(10)) stride += Pick(1, 3);
    }
    const int64_t lead = Pick(0, 3) * width_;
    entry.start = static_cast<uint64_t>(lead);
    entry.shape = Shape(shape);
    entry.strides = Strides(strides);
    Storage storage;
    storage.offset = static_cast<uint64_t>(bytes_);
    storage.bytes = storage.stored_bytes = static_cast<uint64_t>(lead + (stride + 1) * width_);
    const int64_t base = bytes_ + lead;
    sources_.push_back(Make(shape, [&](const Sizes& index) {
      int64_t at = base;
      for (size_t d = 0; d < shape.size(); ++d) at += index[d] * strides[d] * width_;
      return at;
    }));
    bytes_ += static_cast<int64_t>(storage.bytes);
    catalog_.storages.push_back(storage);
    catalog_.entries.push_back(std::move(entry));
  }

  // One random operation that fits; what was called goes to `story`.
  void Step(TensorGraph* graph, TensorId* id, Naive* naive) {
    const auto rank = static_cast<int64_t>(naive->shape.size());
    const size_t d = rank == 0 ? 0 : static_cast<size_t>(Pick(0, rank - 1));
    const auto di = static_cast<int64_t>(Chance(50) || rank == 0 ? d : d - naive->shape.size());
    const int64_t n = rank == 0 ? 0 : naive->shape[d];
    const Sizes shape = naive->shape;
    switch (Pick(0, 17)) {
      case 0: {
        if (rank < 2) return;
        const auto e = static_cast<size_t>(Pick(0, rank - 1));
        Sizes swapped = shape;
        std::swap(swapped[d], swapped[e]);
        const Naive in = *naive;
        *naive = Make(swapped, [&](Sizes index) {
          std::swap(index[d], index[e]);
          return At(in, index);
        });
        return Apply(graph, id, "transpose", {di, static_cast<int64_t>(e)});
      }
      case 1:
      case 2: {
        Sizes order(shape.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random_);
        Sizes permuted;
        for (int64_t o : order) permuted.push_back(shape[static_cast<size_t>(o)]);
        const Naive in = *naive;
        *naive = Make(permuted, [&](const Sizes& index) {
          Sizes source(index.size());
          for (size_t k = 0; k < index.size(); ++k)
            source[static_cast<size_t>(order[k])] = index[k];
          return At(in, source);
        });
        return Apply(graph, id, "permute", {List(order)});
      }
      case 3:
      case 4: {
        // Another shape of as many elements.
        Sizes sizes;
        int64_t left = Count(shape);
        if (left == 0) return;
        while (left > 1 && sizes.size() < 5) {
          Sizes divisors;
          for (int64_t k = 1; k <= left; ++k) {
            if (left % k == 0) divisors.push_back(k);
          }
          const int64_t size =
              divisors[static_cast<size_t>(Pick(0, static_cast<int64_t>(divisors.size()) - 1))];
          sizes.push_back(size);
          left /= size;
        }
        if (left > 1 || sizes.empty()) sizes.push_back(left);
        naive->shape = sizes;
        if (Chance(30))
          sizes[static_cast<size_t>(Pick(0, static_cast<int64_t>(sizes.size()) - 1))] = -1;
        return Apply(graph, id, "reshape", {List(sizes)});
      }
      case 5: {
        if (rank == 0) return;
        int64_t a = Pick(0, n), b = Pick(0, n);
        if (a > b) std::swap(a, b);
        const int64_t step = Chance(60) ? 1 : Pick(1, 4);
        const int64_t count = (b - a + step - 1) / step;
        if (count == 0 && !Chance(5)) return;
        *naive = Along(*naive, d, count, [&](int64_t i) { return a + i * step; });
        return Apply(graph, id, "slice", {di, ValueList{a, b}, step});
      }
      case 6: {
        if (rank == 0 || n == 0) return;
        Sizes list;
        const int64_t length = Pick(1, 6);
        for (int64_t k = 0; k < length; ++k) list.push_back(Pick(0, n - 1));
        *naive = Along(*naive, d, length, [&](int64_t i) { return list[static_cast<size_t>(i)]; });
        return Apply(graph, id, "take", {di, List(list)});
      }
      case 7: {
        if (rank == 0) return;
        Sizes counts;
        for (int64_t k = 1; k <= n; ++k) {
          if (n % k == 0) counts.push_back(k);
        }
        if (counts.empty()) return;
        const int64_t count =
            counts[static_cast<size_t>(Pick(0, static_cast<int64_t>(counts.size()) - 1))];
        Sizes list(static_cast<size_t>(count));
        std::iota(list.begin(), list.end(), 0);
        std::shuffle(list.begin(), list.end(), random_);
        const int64_t block = n / count;
        *naive = Along(*naive, d, n, [&](int64_t i) {
          return list[static_cast<size_t>(i / block)] * block + i % block;
        });
        return Apply(graph, id, "reorder", {di, List(list)});
      }
      case 8:
        if (rank == 0) return;
        *naive = Along(*naive, d, n, [&](int64_t i) { return n - 1 - i; });
        return Apply(graph, id, "flip", {di});
      case 9: {
        if (rank == 0) return;
        const int64_t k = Pick(-10, 10);
        *naive = Along(*naive, d, n, [&](int64_t i) { return ((i - k) % n + n) % n; });
        return Apply(graph, id, "roll", {di, k});
      }
      case 10: {
        if (rank == 0) return;
        const int64_t size = n + Pick(0, 3);
        const bool last = n > 0 && Chance(50);
        *naive = Along(*naive, d, size, [&](int64_t i) {
          return i < n ? i : last ? n - 1 : int64_t{-1};
        });
        if (last) return Apply(graph, id, "pad", {di, size, "repeat_last"});
        return Apply(graph, id, "pad", {di, size, ValueList{}});
      }
      case 11: {
        if (rank == 0 || Count(shape) > 500) return;
        const int64_t times = Pick(1, 3);
        *naive = Along(*naive, d, n * times, [&](int64_t i) { return i % n; });
        return Apply(graph, id, "repeat", {di, times});
      }
      case 12: {
        if (rank >= 6) return;
        const int64_t at = Pick(0, rank);
        naive->shape.insert(naive->shape.begin() + at, 1);
        return Apply(graph, id, "unsqueeze", {at});
      }
      case 13:
        if (rank == 0 || n != 1) return;
        naive->shape.erase(naive->shape.begin() + static_cast<int64_t>(d));
        return Apply(graph, id, "squeeze", {di});
      case 14: {
        if (rank == 0) return;
        const auto e = Pick(static_cast<int64_t>(d), rank - 1);
        int64_t joined = 1;
        for (int64_t k = static_cast<int64_t>(d); k <= e; ++k)
          joined *= shape[static_cast<size_t>(k)];
        auto& sizes = naive->shape;
        sizes.erase(sizes.begin() + static_cast<int64_t>(d), sizes.begin() + e + 1);
        sizes.insert(sizes.begin() + static_cast<int64_t>(d), joined);
        return Apply(graph, id, "flatten", {static_cast<int64_t>(d), e});
      }
      case 15: {
        if (rank == 0 || rank >= 6 || n == 0) return;
        Sizes divisors;
        for (int64_t k = 1; k <= n; ++k) {
          if (n % k == 0) divisors.push_back(k);
        }
        const int64_t inner =
            divisors[static_cast<size_t>(Pick(0, static_cast<int64_t>(divisors.size()) - 1))];
        naive->shape[d] = n / inner;
        naive->shape.insert(naive->shape.begin() + static_cast<int64_t>(d) + 1, inner);
        return Apply(graph, id, "unflatten", {di, ValueList{int64_t{-1}, inner}});
      }
      case 16:
        return Join(graph, id, naive, d, di);
      default:
        return Cut(graph, id, naive, d, di);
    }
  }

  // cat or stack with pieces of the same tensor and others.
  void Join(TensorGraph* graph, TensorId* id, Naive* naive, size_t d, int64_t di) {
    if (Count(naive->shape) > 500) return;
    const Naive a = *naive;
    Naive b = a;
    TensorId other = *id;
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i].shape == a.shape && Chance(70)) {
        b = sources_[i];
        other = static_cast<TensorId>(i);
      }
    }
    const bool stack = a.shape.empty() || (Chance(50) && a.shape.size() < 6);
    if (stack) {
      Sizes shape = a.shape;
      const auto at = static_cast<size_t>(Pick(0, static_cast<int64_t>(shape.size())));
      shape.insert(shape.begin() + static_cast<int64_t>(at), 3);
      *naive = Make(shape, [&](Sizes index) {
        const int64_t which = index[at];
        index.erase(index.begin() + static_cast<int64_t>(at));
        return At(which == 1 ? b : a, index);
      });
      return ApplyMany(graph, id, "stack", {static_cast<int64_t>(at)}, {*id, other, *id});
    }
    const int64_t n = a.shape[d];
    Sizes shape = a.shape;
    shape[d] = 2 * n;
    *naive = Make(shape, [&](Sizes index) {
      const bool second = index[d] >= n;
      if (second) index[d] -= n;
      return At(second ? b : a, index);
    });
    ApplyMany(graph, id, "cat", {di}, {*id, other});
  }

  void Cut(TensorGraph* graph, TensorId* id, Naive* naive, size_t d, int64_t di) {
    if (naive->shape.empty() || naive->shape[d] == 0) return;
    const int64_t n = naive->shape[d];
    const int64_t cut = Pick(0, n);
    if ((cut == 0 || cut == n) && !Chance(10)) return;
    const bool second = cut == 0 || (cut != n && Chance(50));
    const int64_t begin = second ? cut : 0, size = second ? n - cut : cut;
    *naive = Along(*naive, d, size, [&](int64_t i) { return begin + i; });
    Result<std::vector<TensorId>> ids =
        graph->Apply(*FindOp("sections"), {di, ValueList{cut, n - cut}}, {*id}, {}, 2);
    ASSERT_TRUE(ids.ok()) << Render(ids.error(), false);
    story += " | sections";
    *id = (*ids)[second ? 1 : 0];
  }

  void Apply(TensorGraph* graph, TensorId* id, const char* name, OpArgs args) {
    ApplyMany(graph, id, name, std::move(args), {*id});
  }

  void ApplyMany(TensorGraph* graph, TensorId* id, const char* name, OpArgs args,
                 std::vector<TensorId> inputs) {
    story += std::string(" | ") + name;
    for (const Value& arg : args) story += " " + ToString(arg);
    Result<std::vector<TensorId>> ids = graph->Apply(*FindOp(name), std::move(args), inputs, {});
    ASSERT_TRUE(ids.ok()) << story << "\n" << Render(ids.error(), false);
    *id = (*ids)[0];
  }

  void Run() {
    MakeSources();
    TensorGraph graph(catalog_);
    TensorId id = 0;
    Naive naive = sources_[0];
    story = std::string(Name(dtype_)) + ToString(Dims(naive.shape));
    const int64_t steps = Pick(0, 8);
    for (int64_t k = 0; k < steps; ++k) {
      Step(&graph, &id, &naive);
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_EQ(graph.type(id).shape, Shape(naive.shape)) << story;
    std::string wanted;
    for (int64_t from : naive.from) {
      wanted += from == kZero
                    ? std::string(static_cast<size_t>(width_), '\0')
                    : text_.substr(static_cast<size_t>(from), static_cast<size_t>(width_));
    }
    Check(graph, id, wanted);
  }

  void Check(const TensorGraph& graph, TensorId id, const std::string& wanted) {
    Result<Lowered> lowered = Lower(graph, id);
    ASSERT_TRUE(lowered.ok()) << story << "\n" << Render(lowered.error(), false);
    ASSERT_EQ(lowered->bytes, wanted.size()) << story;
    std::string made(wanted.size(), '\x5a');
    if (lowered->recipe == Recipe::kCopy) {
      for (const Piece& piece : lowered->pieces) {
        ASSERT_EQ(piece.dims.size(), 1u);
        const Storage& storage = catalog_.storages[piece.storage];
        made.replace(piece.target, BytesOf(piece),
                     text_.substr(storage.offset + piece.source, BytesOf(piece)));
      }
    } else {
      MakeByTiles(*lowered, &made);
    }
    ASSERT_TRUE(made == wanted) << story;
  }

  void MakeByTiles(const Lowered& lowered, std::string* made) {
    std::string in = ::testing::TempDir() + "layout-in-XXXXXX";
    std::string out = ::testing::TempDir() + "layout-out-XXXXXX";
    const int in_fd = mkstemp(in.data()), out_fd = mkstemp(out.data());
    ASSERT_TRUE(WriteAt(in_fd, 0, text_.data(), text_.size()).ok());
    close(in_fd);
    Result<InputFile> file = InputFile::Open(in);
    ASSERT_TRUE(file.ok());
    catalog_.files[0] = file->info();
    Worker worker(catalog_);
    uint64_t next = 0;
    for (const Tile& tile : TilesOf(lowered)) {
      ASSERT_EQ(tile.target, next);
      next += tile.bytes;
      Status moved = MoveTile(lowered, tile, {out_fd, 16}, &worker);
      ASSERT_TRUE(moved.ok()) << story << Render(moved.error(), false);
    }
    ASSERT_EQ(next, lowered.bytes);
    ASSERT_EQ(pread(out_fd, made->data(), made->size(), 16), static_cast<ssize_t>(made->size()));
    close(out_fd);
    unlink(in.c_str());
    unlink(out.c_str());
  }

  std::string story;

 private:
  std::mt19937 random_;
  DType dtype_ = DType::kF32;
  int64_t width_ = 4;
  int64_t bytes_ = 0;
  Catalog catalog_;
  std::string text_;
  std::vector<Naive> sources_;
};

TEST(LayoutRandom, ChainsEqualPlainLoops) {
  for (uint32_t seed = 1; seed <= 50000; ++seed) {
    Chain chain(seed);
    chain.Run();
    if (::testing::Test::HasFatalFailure()) {
      FAIL() << "seed " << seed << ": " << chain.story;
    }
  }
}

}  // namespace
}  // namespace rekey
