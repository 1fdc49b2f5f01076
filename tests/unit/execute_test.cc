// Placed plans carried out: the bytes that come out, and what is left when it fails.
#include "engine/execute.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "engine/copy_range.h"
#include "tests/support/files.h"
#include "tests/support/plans.h"

namespace rekey {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A file of tensors filled with pseudo-random bytes: {key, bytes}, all u8.
std::string Noise(uint64_t seed, size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(seed >> 56);
  }
  return text;
}

using Sizes = std::vector<std::pair<std::string, size_t>>;

// A safetensors file written by hand: tensors in order, the data beginning at `start`.
std::string SafetensorsText(const Sizes& sizes, size_t start = 0) {
  std::string header = "{";
  std::string data;
  for (const auto& [key, bytes] : sizes) {
    header += (data.empty() && header.size() == 1 ? "" : ",") + ("\"" + key) +
              "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(bytes) + "],\"data_offsets\":[" +
              std::to_string(data.size()) + "," + std::to_string(data.size() + bytes) + "]}";
    data += Noise(data.size() + key.size(), bytes);
  }
  header += "}";
  if (start > 0) header.resize(start - 8, ' ');
  std::string file;
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<char>(header.size() >> (8 * i)));
  return file + header + data;
}

Catalog MustRead(const std::string& path) {
  Result<Catalog> catalog = ReadFile(path, {});
  if (catalog.ok()) return std::move(*catalog);
  ADD_FAILURE() << catalog.error().message;
  return {};
}

// The plain bytes of each tensor of a file, by key.
std::map<std::string, std::string> Contents(const std::string& path) {
  std::map<std::string, std::string> contents;
  const Catalog catalog = MustRead(path);
  Result<InputFile> file = InputFile::Open(path);
  EXPECT_TRUE(file.ok());
  for (const Entry& entry : catalog.entries) {
    const Storage& storage = catalog.storages[entry.storage];
    Result<std::string> bytes = file->ReadText(storage.offset + entry.start, DataBytes(entry));
    EXPECT_TRUE(bytes.ok());
    contents[std::string(entry.key)] = *bytes;
  }
  return contents;
}

HandPlan RenameAll(const Catalog& catalog) {
  HandPlan made(catalog);
  for (uint32_t i = 0; i < catalog.entries.size(); ++i) {
    made.Rename(i, "new." + std::string(catalog.entries[i].key));
  }
  return made;
}

std::map<std::string, std::string> Renamed(const std::map<std::string, std::string>& contents) {
  std::map<std::string, std::string> renamed;
  for (const auto& [key, bytes] : contents) renamed["new." + key] = bytes;
  return renamed;
}

Done MustExecute(const HandPlan& made, const Placed& placed, ExecuteOptions options = {}) {
  Result<Done> done = Execute(made.plan, placed, options);
  if (done.ok()) return *done;
  ADD_FAILURE() << done.error().message;
  return {};
}

Diagnostic MustFail(const HandPlan& made, const Placed& placed, ExecuteOptions options = {}) {
  Result<Done> done = Execute(made.plan, placed, options);
  if (!done.ok()) {
    EXPECT_FALSE(done.error().helps.empty()) << done.error().message;
    return done.error();
  }
  ADD_FAILURE() << "it was written";
  return {};
}

std::set<std::string> Names(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    names.insert(fs::relative(entry.path(), folder).string());
  }
  return names;
}

// Small and large, page aligned and not, one of no bytes; more than one task.
const Sizes kMixed = {{"a", 10},   {"b", 34'000'001}, {"none", 0},   {"c", 5'000'000},
                      {"d", 4096}, {"e", 1},          {"f", 100'000}};

class ExecuteTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  const Writer& safetensors_ = *FindWriter("safetensors");
  const Writer& torch_ = *FindWriter("torch");
};

TEST_F(ExecuteTest, CopiesEveryByteWhateverTheAlignmentAndThreads) {
  for (size_t start : {0u, 4096u, 1000u}) {
    const std::string in = folder_.Write("in.safetensors", SafetensorsText(kMixed, start));
    const std::string before = ReadAll(in);
    const Catalog catalog = MustRead(in);
    const HandPlan made = RenameAll(catalog);
    std::string first;
    for (int threads : {1, 2, 5}) {
      const std::string out = folder_.Path("out.safetensors");
      ExecuteOptions options;
      options.threads = threads;
      options.force = true;
      const Placed placed = made.Place(out, safetensors_);
      EXPECT_EQ(MustExecute(made, placed, options).bytes_written, placed.total);
      EXPECT_TRUE(Contents(out) == Renamed(Contents(in)));
      if (first.empty()) first = ReadAll(out);
      EXPECT_TRUE(first == ReadAll(out));
    }
    EXPECT_TRUE(before == ReadAll(in));
    EXPECT_EQ(Names(folder_.path()), (std::set<std::string>{"in.safetensors", "out.safetensors"}));
  }
}

// What zip readers check: the CRC in both headers of each record.
void CheckZipCrcs(const std::string& path, const Placed& placed, const HandPlan& made) {
  const std::string file = ReadAll(path);
  const FileLayout& layout = placed.files[0].layout;
  std::map<uint32_t, int> seen;
  for (const CrcPatch& patch : layout.crcs) {
    uint32_t crc = 0;
    for (int i = 3; i >= 0; --i) {
      crc = crc << 8 | static_cast<unsigned char>(file[patch.offset + static_cast<uint64_t>(i)]);
    }
    const uint64_t bytes = made.plan.lowered[patch.tensor].bytes;
    EXPECT_EQ(crc, libdeflate_crc32(0, file.data() + layout.offsets[patch.tensor], bytes));
    ++seen[patch.tensor];
  }
  for (const auto& [tensor, count] : seen) EXPECT_EQ(count, 2) << tensor;
}

TEST_F(ExecuteTest, CrcsOfTorchAreThoseOfTheBytes) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText(kMixed, 4096));
  const Catalog catalog = MustRead(in);
  HandPlan made = RenameAll(catalog);
  // A tensor of two pieces, in the other order, and a constant between them.
  Lowered joined;
  joined.type = {DType::kU8, {4096 + 3 + 10}};
  joined.bytes = 4096 + 3 + 10;
  Piece constant = HandPlan::Bytes(Piece::kNone, 0, 4096, 3);
  constant.constant = 0;
  joined.constants = {std::make_shared<const std::string>("xyz")};
  joined.pieces = {HandPlan::Bytes(catalog.entries[4].storage, catalog.entries[4].start, 0, 4096),
                   constant,
                   HandPlan::Bytes(catalog.entries[0].storage, catalog.entries[0].start, 4099, 10)};
  const uint32_t at = made.Add("joined", 0, std::move(joined));
  const std::string out = folder_.Path("out.pt");
  const Placed placed = made.Place(out, torch_);
  EXPECT_EQ(placed.files[0].layout.crcs.size(), 2 * 7u);
  MustExecute(made, placed);
  CheckZipCrcs(out, placed, made);
  const std::map<std::string, std::string> read = Contents(in);
  EXPECT_EQ(ReadAll(out).substr(placed.files[0].layout.offsets[at], 4096 + 3 + 10),
            read.at("d") + "xyz" + read.at("a"));
}

// Records of a zip whose order is kept are copied with the headers between them, which are then
// written over.
TEST_F(ExecuteTest, ATorchFileRenamedTwiceIsRightInEveryByte) {
  Sizes sizes;
  for (int i = 0; i < 300; ++i) sizes.emplace_back("k" + std::to_string(i), 1 + i * 37 % 4000);
  sizes[0].second = 200'000;
  const std::string in = folder_.Write("in.safetensors", SafetensorsText(sizes));
  const Catalog catalog = MustRead(in);
  const std::string first = folder_.Path("first.pt");
  const HandPlan made = RenameAll(catalog);
  MustExecute(made, made.Place(first, torch_));

  const Catalog again = MustRead(first);
  ASSERT_EQ(again.entries.size(), sizes.size());
  HandPlan plan(again);
  for (uint32_t i = 0; i < again.entries.size(); ++i) {
    EXPECT_TRUE(again.storages[again.entries[i].storage].has_crc);
    plan.Rename(i, std::string(again.entries[i].key).substr(4));
  }
  const std::string second = folder_.Path("second.pt");
  const Placed placed = plan.Place(second, torch_);
  EXPECT_TRUE(placed.files[0].layout.crcs.empty());  // carried
  MustExecute(plan, placed);
  EXPECT_TRUE(Contents(second) == Contents(in));
  // The same description by another way: from safetensors, CRCs computed.
  HandPlan direct(catalog);
  for (uint32_t i = 0; i < catalog.entries.size(); ++i) direct.Rename(i, catalog.entries[i].key);
  const std::string third = folder_.Path("third.pt");
  const Placed other = direct.Place(third, torch_);
  MustExecute(direct, other);
  CheckZipCrcs(third, other, direct);
  EXPECT_TRUE(Contents(third) == Contents(in));
}

TEST_F(ExecuteTest, TiedOutputsAreWrittenOnce) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 100}, {"b", 50}}));
  const Catalog catalog = MustRead(in);
  HandPlan made(catalog);
  made.Rename(0, "first");
  made.Rename(1, "other");
  made.Rename(0, "tied", 0);
  const std::string out = folder_.Path("out.pt");
  const Placed placed = made.Place(out, torch_);
  EXPECT_EQ(placed.files[0].layout.offsets[2], placed.files[0].layout.offsets[0]);
  MustExecute(made, placed);
  EXPECT_EQ(Contents(out).at("tied"), Contents(in).at("a"));
  EXPECT_EQ(Contents(out).at("other"), Contents(in).at("b"));
}

TEST_F(ExecuteTest, ProgressEndsAtTheTotal) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText(kMixed));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  ExecuteOptions options;
  Progress last;
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done, last.done);
    EXPECT_THAT(progress.key, HasSubstr("new."));
    last = progress;
  };
  MustExecute(made, made.Place(folder_.Path("out.safetensors"), safetensors_), options);
  EXPECT_EQ(last.done, last.total);
  EXPECT_EQ(last.total, made.plan.bytes);
}

TEST_F(ExecuteTest, AFolderAppearsAsAWhole) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 100}, {"b", 50}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  const std::string out = folder_.Path("out");
  Placed placed;
  placed.folder = true;
  placed.out = out + "/";
  placed.files = {made.PlaceFile(out + "/x.safetensors", safetensors_, 0, 1),
                  made.PlaceFile(out + "/deep/er/y.pt", torch_, 1, 2)};
  placed.index_path = out + "/x.safetensors.index.json";
  placed.index_text = "{}\n";
  MustExecute(made, placed);
  const std::set<std::string> names = {"in.safetensors",
                                       "out",
                                       "out/x.safetensors",
                                       "out/deep",
                                       "out/deep/er",
                                       "out/deep/er/y.pt",
                                       "out/x.safetensors.index.json"};
  EXPECT_EQ(Names(folder_.path()), names);
  EXPECT_EQ(Contents(out + "/x.safetensors").at("new.a"), Contents(in).at("a"));
  EXPECT_EQ(Contents(out + "/deep/er/y.pt").at("new.b"), Contents(in).at("b"));
  EXPECT_EQ(ReadAll(placed.index_path), "{}\n");

  EXPECT_EQ(MustFail(made, placed).name, "output-exists");
  // Replaced as a whole: a shard of before is gone.
  folder_.Write("out/old.safetensors", "x");
  ExecuteOptions force;
  force.force = true;
  MustExecute(made, placed, force);
  EXPECT_EQ(Names(folder_.path()), names);
  // But not when something else would be lost.
  folder_.Write("out/tokenizer.json", "{}");
  const Diagnostic error = MustFail(made, placed, force);
  EXPECT_EQ(error.name, "folder-holds-others");
  EXPECT_THAT(error.message, HasSubstr("tokenizer.json"));
  EXPECT_TRUE(fs::exists(out + "/tokenizer.json"));
}

TEST_F(ExecuteTest, AnEmptyFolderIsTaken) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 100}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  Placed placed;
  placed.folder = true;
  placed.out = folder_.Path("out");
  fs::create_directory(placed.out);
  placed.files = {made.PlaceFile(placed.out + "/x.safetensors", safetensors_, 0, 1)};
  MustExecute(made, placed);
  EXPECT_EQ(Contents(placed.files[0].path).at("new.a"), Contents(in).at("a"));
}

TEST_F(ExecuteTest, TheModeFollowsTheUmask) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 1}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  const std::string out = folder_.Path("out.safetensors");
  const mode_t before = umask(027);
  MustExecute(made, made.Place(out, safetensors_));
  umask(before);
  struct stat status;
  ASSERT_EQ(stat(out.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

// --- Refusals
// -------------------------------------------------------------------------------------

TEST_F(ExecuteTest, AnExistingOutputIsKeptWithoutForce) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 10}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  const std::string out = folder_.Write("out.safetensors", "mine");
  const Placed placed = made.Place(out, safetensors_);
  const Diagnostic error = MustFail(made, placed);
  EXPECT_EQ(error.name, "output-exists");
  EXPECT_THAT(error.message, HasSubstr("out.safetensors` exists already"));
  EXPECT_EQ(ReadAll(out), "mine");
  ExecuteOptions force;
  force.force = true;
  MustExecute(made, placed, force);
  EXPECT_TRUE(Contents(out) == Renamed(Contents(in)));
}

TEST_F(ExecuteTest, AnInputIsNeverOverwritten) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 10}}));
  const std::string before = ReadAll(in);
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  ExecuteOptions force;
  force.force = true;
  fs::create_hard_link(in, folder_.Path("hard.safetensors"));
  fs::create_symlink("in.safetensors", folder_.Path("soft.safetensors"));
  for (const char* name :
       {"in.safetensors", "hard.safetensors", "soft.safetensors", "../" /* and back */}) {
    std::string out = folder_.Path(name);
    if (std::string(name) == "../") {
      out += fs::path(folder_.path()).filename().string() + "/in.safetensors";
    }
    const Diagnostic error = MustFail(made, made.Place(out, safetensors_), force);
    EXPECT_EQ(error.name, "output-is-input") << out;
  }
  // In a folder that would be replaced.
  Placed placed;
  placed.folder = true;
  placed.out = folder_.path();
  placed.files = {made.PlaceFile(folder_.Path("other.safetensors"), safetensors_, 0, 1)};
  EXPECT_EQ(MustFail(made, placed, force).name, "output-is-input");
  EXPECT_TRUE(ReadAll(in) == before);
}

TEST_F(ExecuteTest, OutputsOfAnotherKindAreRefused) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 10}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  ExecuteOptions force;
  force.force = true;
  fs::create_directory(folder_.Path("folder"));
  ASSERT_EQ(mkfifo(folder_.Path("pipe").c_str(), 0600), 0);
  const auto refusal = [&](const std::string& out) {
    return MustFail(made, made.Place(out, safetensors_), force);
  };
  EXPECT_EQ(refusal(folder_.Path("folder")).name, "output-is-folder");
  EXPECT_EQ(refusal(folder_.Path("pipe")).name, "output-is-no-file");
  EXPECT_EQ(refusal("/dev/null").name, "output-is-no-file");
  const Diagnostic missing = refusal(folder_.Path("no/such/out.safetensors"));
  EXPECT_EQ(missing.name, "missing-folder");
  EXPECT_THAT(missing.helps[0], HasSubstr("mkdir -p"));
  Placed placed;
  placed.folder = true;
  placed.out = in + "x";
  folder_.Write("in.safetensorsx", "a file");
  placed.files = {made.PlaceFile(placed.out + "/x.safetensors", safetensors_, 0, 1)};
  EXPECT_EQ(MustFail(made, placed, force).name, "output-is-file");
}

TEST_F(ExecuteTest, AFolderThatCannotBeWritten) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 10}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  // root may write everywhere but here.
  const std::string where = geteuid() == 0 ? std::string("/proc") : folder_.Path("locked");
  if (geteuid() != 0) {
    fs::create_directory(where);
    ASSERT_EQ(chmod(where.c_str(), 0500), 0);
  }
  const Diagnostic error = MustFail(made, made.Place(where + "/out.safetensors", safetensors_));
  EXPECT_TRUE(error.name == "unwritable-folder" || error.name == "write-failed") << error.name;
  EXPECT_THAT(error.message, HasSubstr("cannot "));
}

TEST_F(ExecuteTest, SpaceIsCheckedBeforeAnythingIsWritten) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 10}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  Placed placed = made.Place(folder_.Path("out.safetensors"), safetensors_);
  placed.files[0].layout.size = uint64_t{1} << 60;
  const Diagnostic error = MustFail(made, placed);
  EXPECT_EQ(error.name, "no-space");
  EXPECT_THAT(error.message, HasSubstr("1152.9 PB (1152921504606846976 bytes)"));
  EXPECT_EQ(Names(folder_.path()), std::set<std::string>{"in.safetensors"});
}

TEST_F(ExecuteTest, AChangedInputIsRefusedAndNothingIsLeft) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 10}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  folder_.Write("in.safetensors", SafetensorsText({{"a", 11}}));
  EXPECT_EQ(MustFail(made, made.Place(folder_.Path("out.safetensors"), safetensors_)).name,
            "file-changed");
  EXPECT_EQ(Names(folder_.path()), std::set<std::string>{"in.safetensors"});
}

TEST_F(ExecuteTest, TensorsThatMustBeEqual) {
  Sizes sizes = {{"a", 3'000'000}, {"b", 3'000'000}, {"c", 3'000'000}, {"short", 5}};
  std::string text = SafetensorsText(sizes);
  const size_t data = text.size() - 9'000'005;
  text.replace(data + 3'000'000, 3'000'000, text.substr(data, 3'000'000));
  text.replace(data + 6'000'000, 3'000'000, text.substr(data, 3'000'000));
  text[data + 6'000'000 + 2'345'678] ^= 1;
  const std::string in = folder_.Write("in.safetensors", text);
  const Catalog catalog = MustRead(in);
  HandPlan made = RenameAll(catalog);
  const Placed placed = made.Place(folder_.Path("out.safetensors"), safetensors_);
  made.plan.rewritten.must_equal = {{{0, 1}, {"a", "b"}, {}}, {{0, 0}, {"a", "a"}, {}}};
  MustExecute(made, placed);
  ASSERT_TRUE(fs::remove(placed.out));

  made.plan.rewritten.must_equal = {{{0, 1, 2}, {"a", "b", "c"}, {}}};
  Diagnostic error = MustFail(made, placed);
  EXPECT_EQ(error.name, "differs");
  EXPECT_EQ(error.message,
            "`c` differs from `a`, which it must equal, first at [2345678] of u8[3000000]");
  made.plan.rewritten.must_equal = {{{0, 3}, {"a", "short"}, {}}};
  error = MustFail(made, placed);
  EXPECT_EQ(error.name, "differs");
  EXPECT_THAT(error.message, HasSubstr("one is u8[5], the other u8[3000000]"));
  EXPECT_EQ(Names(folder_.path()), std::set<std::string>{"in.safetensors"});
}

// --- Faults
// ---------------------------------------------------------------------------------------

// Runs in a child with a limit on the size of files: writing fails as on a full disk.
TEST_F(ExecuteTest, AFailedWriteLeavesNothing) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText(kMixed));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  const std::string out = folder_.Write("out.safetensors", "mine");
  const Placed placed = made.Place(out, safetensors_);
  for (rlim_t limit : {rlim_t{0}, rlim_t{100}, rlim_t{30'000'000}, rlim_t{placed.total - 1}}) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit bound{limit, limit};
      setrlimit(RLIMIT_FSIZE, &bound);
      ExecuteOptions options;
      options.force = true;
      Result<Done> done = Execute(made.plan, placed, options);
      _exit(!done.ok() && done.error().name == "write-failed" ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << limit;
    EXPECT_TRUE(ReadAll(out) == "mine");
    EXPECT_EQ(Names(folder_.path()), (std::set<std::string>{"in.safetensors", "out.safetensors"}));
  }
}

// In the middle, after much has been written.
TEST_F(ExecuteTest, AnInputThatEndsEarlyLeavesNothing) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText(kMixed));
  Catalog catalog = MustRead(in);
  catalog.storages.back().bytes += 1'000'000;
  catalog.storages.back().stored_bytes += 1'000'000;
  for (const Writer* writer : {&safetensors_, &torch_}) {
    HandPlan made(catalog);
    made.Rename(1, "b");
    Lowered beyond;
    beyond.type = {DType::kU8, {1'000'000}};
    beyond.bytes = 1'000'000;
    const auto last = static_cast<uint32_t>(catalog.storages.size() - 1);
    beyond.pieces = {HandPlan::Bytes(last, 0, 0, 1'000'000)};
    made.Add("beyond", 0, std::move(beyond));
    const Diagnostic error = MustFail(made, made.Place(folder_.Path("out"), *writer));
    EXPECT_EQ(error.name, "truncated-file");
    EXPECT_EQ(Names(folder_.path()), std::set<std::string>{"in.safetensors"});
  }
}

// A disk of its own, when the test may mount one.
TEST_F(ExecuteTest, AFullDisk) {
  const std::string disk = folder_.Path("disk");
  fs::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "needs root";
  const std::string in = folder_.Write("in.safetensors", SafetensorsText({{"a", 2'000'000}}));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  const Diagnostic error = MustFail(made, made.Place(disk + "/out.safetensors", safetensors_));
  EXPECT_EQ(error.name, "no-space");
  EXPECT_THAT(error.message, HasSubstr("takes 2.0 MB ("));
  EXPECT_THAT(error.message, HasSubstr("its disk has 1.0 MB (1048576 bytes) left"));
  EXPECT_TRUE(fs::is_empty(disk));
  EXPECT_EQ(umount(disk.c_str()), 0);
}

TEST_F(ExecuteTest, CopyRangeSaysThatADiskIsFull) {
  const std::string in = folder_.Write("in", Noise(1, 100'000));
  Result<InputFile> source = InputFile::Open(in);
  ASSERT_TRUE(source.ok());
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  std::vector<uint8_t> buffer(kCopyBuffer);
  for (bool in_kernel : {true, false}) {
    CopyMethods methods{in_kernel, in_kernel};
    RangeCopy copy;
    copy.source = &*source;
    copy.fd = full;
    copy.bytes = 100'000;
    const Status copied = CopyRange(copy, &methods, buffer.data());
    ASSERT_FALSE(copied.ok());
    EXPECT_EQ(copied.error().name, "no-space");
    EXPECT_FALSE(methods.in_kernel);
  }
  close(full);
}

// Another file system: the kernel may not copy between them.
TEST_F(ExecuteTest, CopyRangeBetweenFileSystems) {
  const std::string text = Noise(2, 3'000'000);
  const std::string in = folder_.Write("in", text);
  Result<InputFile> source = InputFile::Open(in);
  ASSERT_TRUE(source.ok());
  const int memory = memfd_create("copy", 0);
  ASSERT_GE(memory, 0);
  std::vector<uint8_t> buffer(kCopyBuffer);
  for (bool in_kernel : {true, false}) {
    CopyMethods methods{in_kernel, in_kernel};
    uint32_t crc = 0;
    RangeCopy copy;
    copy.source = &*source;
    copy.from = 1001;
    copy.fd = memory;
    copy.to = 7;
    copy.bytes = 2'500'000;
    if (!in_kernel) copy.crc32 = &crc;
    ASSERT_TRUE(CopyRange(copy, &methods, buffer.data()).ok());
    std::string read(2'500'000, '\0');
    ASSERT_EQ(pread(memory, read.data(), read.size(), 7), static_cast<ssize_t>(read.size()));
    EXPECT_TRUE(read == text.substr(1001, read.size()));
    EXPECT_EQ(crc, in_kernel ? 0 : libdeflate_crc32(0, read.data(), read.size()));
  }
  close(memory);
}

// Killed at any time, the destination is the old file or the new one.
TEST_F(ExecuteTest, KilledAtAnyTime) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText(kMixed));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  const std::string out = folder_.Path("out.safetensors");
  const Placed placed = made.Place(out, safetensors_);
  MustExecute(made, placed);
  const std::string fresh = ReadAll(out);
  for (int delay = 0; delay < 12; ++delay) {
    folder_.Write("out.safetensors", "mine");
    const pid_t child = fork();
    if (child == 0) {
      ExecuteOptions options;
      options.force = true;
      (void)Execute(made.plan, placed, options);
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(delay * 6));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const std::string now = ReadAll(out);
    EXPECT_TRUE(now == "mine" || now == fresh);
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.find(".rekey-") != std::string::npos) fs::remove(entry.path());
    }
  }
}

void RemoveAndExit(int) {
  RemoveTemporaries();
  _exit(42);
}

TEST_F(ExecuteTest, InterruptedAtAnyTimeNothingIsLeft) {
  const std::string in = folder_.Write("in.safetensors", SafetensorsText(kMixed));
  const Catalog catalog = MustRead(in);
  const HandPlan made = RenameAll(catalog);
  Placed placed;
  placed.folder = true;
  placed.out = folder_.Path("out");
  placed.files = {made.PlaceFile(placed.out + "/x.safetensors", safetensors_, 0, 3),
                  made.PlaceFile(placed.out + "/deep/y.pt", torch_, 3, 7)};
  int interrupted = 0;
  for (int delay = 0; delay < 12; ++delay) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGTERM, RemoveAndExit);
      (void)Execute(made.plan, placed, {});
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(delay * 6));
    kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const std::set<std::string> names = Names(folder_.path());
    if (fs::exists(placed.out)) {
      EXPECT_EQ(names, (std::set<std::string>{"in.safetensors", "out", "out/deep", "out/deep/y.pt",
                                              "out/x.safetensors"}));
      EXPECT_TRUE(Contents(placed.out + "/deep/y.pt").at("new.f") == Contents(in).at("f"));
      fs::remove_all(placed.out);
    } else {
      EXPECT_EQ(names, std::set<std::string>{"in.safetensors"});
      ++interrupted;
    }
  }
  EXPECT_GT(interrupted, 0);
}

}  // namespace
}  // namespace rekey
