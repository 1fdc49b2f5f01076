// Layout changes from file to file against `cp` of the same bytes, in one run, by turns.
//
//   rekey_bench_move [MEGABYTES] [ROUNDS]     # 1024 and 3
//
// Prints the median time of each and its ratio to `cp`. The file is in the page cache; outputs are
// new files each time, allocated before they are filled, by two threads.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/graph.h"
#include "engine/lower.h"
#include "engine/ops/ops.h"
#include "engine/work.h"

namespace rekey {
namespace {

constexpr int kThreads = 2;

double Seconds(const auto& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double Median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void Fail(const std::string& why) {
  std::fprintf(stderr, "move_bench: %s\n", why.c_str());
  std::exit(1);
}

void WriteRandom(const std::string& path, uint64_t bytes) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> block(1 << 17);
  for (uint64_t& word : block) word = random();
  const int fd = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  for (uint64_t at = 0; at < bytes; at += block.size() * 8) {
    const uint64_t some = std::min<uint64_t>(block.size() * 8, bytes - at);
    if (!WriteAt(fd, at, block.data(), some).ok()) Fail("cannot write " + path);
  }
  close(fd);
}

struct Case {
  const char* name;
  DType dtype;
  Shape shape;
  const char* op;
  OpArgs args;
};

void Move(const Catalog& catalog, const Lowered& lowered, const std::string& out) {
  const int fd = open(out.c_str(), O_CREAT | O_TRUNC | O_RDWR, 0600);
  if (fd < 0 || posix_fallocate(fd, 0, static_cast<off_t>(lowered.bytes)) != 0) {
    Fail("cannot make " + out);
  }
  const std::vector<Tile> tiles = TilesOf(lowered);
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      Worker worker(catalog);
      for (size_t i = next++; i < tiles.size(); i = next++) {
        const Status moved = MoveTile(lowered, tiles[i], {fd, 0}, &worker);
        if (!moved.ok()) Fail(Render(moved.error(), false));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  close(fd);
}

void Run(const Case& what, const std::string& folder, int rounds) {
  const std::string in = folder + "/in", out = folder + "/out";
  WriteRandom(in, static_cast<uint64_t>(*NumBytes(what.dtype, what.shape)));
  Catalog catalog;
  catalog.files.push_back(InputFile::Open(in)->info());
  Storage storage;
  storage.bytes = storage.stored_bytes = catalog.files[0].size;
  catalog.storages.push_back(storage);
  Entry entry;
  entry.dtype = what.dtype;
  entry.shape = what.shape;
  entry.strides = ContiguousStrides(what.shape);
  catalog.entries.push_back(entry);
  TensorGraph graph(catalog);
  const auto ids = graph.Apply(*FindOp(what.op), what.args, {0}, {});
  if (!ids.ok()) Fail(Render(ids.error(), false));
  const Result<Lowered> lowered = Lower(graph, (*ids)[0]);
  if (!lowered.ok()) Fail(Render(lowered.error(), false));

  std::vector<double> copies, moves;
  for (int round = 0; round < rounds; ++round) {
    copies.push_back(Seconds([&] {
      if (std::system(("cp " + in + " " + out).c_str()) != 0) Fail("cp failed");
    }));
    std::filesystem::remove(out);
    moves.push_back(Seconds([&] { Move(catalog, *lowered, out); }));
    std::filesystem::remove(out);
  }
  const double copy = Median(copies), move = Median(moves);
  std::printf("%-34s %8.1f MB   cp %6.3f s   move %6.3f s   %5.2fx cp\n", what.name,
              static_cast<double>(lowered->bytes) / 1e6, copy, move, move / copy);
}

}  // namespace
}  // namespace rekey

int main(int argc, char** argv) {
  using namespace rekey;
  const double megabytes = argc > 1 ? std::atof(argv[1]) : 1024;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  if (megabytes <= 0 || rounds <= 0) {
    std::fprintf(stderr, "usage: rekey_bench_move [MEGABYTES] [ROUNDS]\n");
    return 2;
  }
  // A folder of its own in the current one, so that the disk measured is the one chosen.
  std::string folder = "move-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) Fail("cannot make a folder here");
  const double bytes = megabytes * 1e6;
  const auto side = [&](double elements) { return static_cast<int64_t>(std::sqrt(elements)); };
  const int64_t f32 = std::max<int64_t>(side(bytes / 4), 4),
                bf16 = std::max<int64_t>(side(bytes / 2), 4);
  const int64_t channels = std::max<int64_t>(side(bytes / 36), 4);
  const ValueList hwio = {3, 2, 0, 1};
  const std::vector<Case> cases = {
      {"f32 transpose", DType::kF32, {f32, f32}, "transpose", {}},
      {"f32 transpose, 4096 wide",
       DType::kF32,
       {static_cast<int64_t>(bytes / 16384) + 1, 4096},
       "transpose",
       {}},
      {"bf16 transpose", DType::kBF16, {bf16, bf16}, "transpose", {}},
      {"f32 HWIO to OIHW, 3 x 3", DType::kF32, {3, 3, channels, channels}, "permute", {hwio}},
      {"f32 HWIO to OIHW, 3 x 3, 512 wide",
       DType::kF32,
       {3, 3, static_cast<int64_t>(bytes / 18432) + 1, 512},
       "permute",
       {hwio}},
      {"bf16 middle dimensions exchanged",
       DType::kBF16,
       {static_cast<int64_t>(bytes / 1048576) + 1, 64, 64, 128},
       "transpose",
       {1, 2}},
  };
  for (const Case& what : cases) Run(what, folder, rounds);
  std::filesystem::remove_all(folder);
  return 0;
}
