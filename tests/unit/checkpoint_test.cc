// Checkpoints as users name them: files, indexes, folders; joined, or refused in their own words.
#include "engine/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "engine/folder.h"
#include "engine/formats/safetensors_writer.h"
#include "engine/formats/shards.h"
#include "engine/join.h"
#include "tests/support/files.h"

namespace rekey {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// A safetensors file of one-byte tensors.
std::string FileWith(const std::vector<std::string>& keys,
                     std::vector<std::pair<std::string, std::string>> metadata = {}) {
  OutputDescription description;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    description.tensors.push_back(
        {.key = keys[i], .dtype = DType::kU8, .shape = {1}, .bytes = 1, .same_as = i});
  }
  description.metadata = std::move(metadata);
  const Result<FileLayout> layout = LayOutSafetensors(description);
  EXPECT_TRUE(layout.ok());
  return layout->literals[0].bytes + std::string(keys.size(), 'x');
}

std::vector<std::string> Keys(const Catalog& catalog) {
  std::vector<std::string> keys;
  for (const Entry& entry : catalog.entries) keys.emplace_back(entry.key);
  return keys;
}

std::vector<std::string> Names(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const FileInfo& file : catalog.files) names.push_back(file.name);
  return names;
}

std::string Whole(const Diagnostic& error) {
  std::string text = error.name + ": " + error.message;
  for (const std::string& note : error.notes) text += "\nnote: " + note;
  for (const std::string& help : error.helps) text += "\nhelp: " + help;
  return text;
}

Catalog MustOpen(const std::string& path, const InputSpec& spec = {}) {
  Result<Catalog> catalog = OpenCheckpoint(path, spec);
  if (!catalog.ok()) {
    ADD_FAILURE() << Whole(catalog.error());
    return {};
  }
  return std::move(*catalog);
}

// The error of opening, with notes and helps.
std::string Refusal(const std::string& path, const InputSpec& spec = {}) {
  const Result<Catalog> catalog = OpenCheckpoint(path, spec);
  if (catalog.ok()) return "no error";
  EXPECT_FALSE(catalog.error().helps.empty()) << catalog.error().message;
  return Whole(catalog.error());
}

// `source` lines that take files by their name.
InputSpec Sources(std::vector<std::pair<std::string, std::string>> prefixes) {
  InputSpec spec;
  spec.source = [prefixes](std::string_view name,
                           const InputSpec::File&) -> Result<std::optional<std::string>> {
    for (const auto& [file, prefix] : prefixes) {
      if (file == name) return std::optional<std::string>(prefix);
    }
    return std::optional<std::string>();
  };
  return spec;
}

// --- Files and folders ------------------------------------------------------------------------

TEST(OpenCheckpoint, AFile) {
  TempFolder folder;
  const std::string path = folder.Write("model.safetensors", FileWith({"a", "b"}));
  folder.Write("config.json", R"({"heads": 4})");
  const Catalog catalog = MustOpen(path);
  EXPECT_THAT(Keys(catalog), ElementsAre("a", "b"));
  EXPECT_THAT(Names(catalog), ElementsAre("model.safetensors"));
  EXPECT_EQ(catalog.files[0].path, path);
  const Result<std::optional<Scalar>> heads = FindMeta(catalog, "config.heads");
  ASSERT_TRUE(heads.ok() && heads->has_value());
  EXPECT_EQ(std::get<int64_t>(**heads), 4);
}

TEST(OpenCheckpoint, AFileThatIsNotThere) {
  TempFolder folder;
  folder.Write("model.safetensors", FileWith({"a"}));
  const std::string refusal = Refusal(folder.Path("modle.safetensors"));
  EXPECT_THAT(refusal, HasSubstr("missing-file"));
  EXPECT_THAT(refusal, HasSubstr("modle.safetensors"));
  EXPECT_THAT(refusal, HasSubstr("did you mean `" + folder.Path("model.safetensors")));
  EXPECT_THAT(Refusal(folder.Path("no/such/file.pt")), HasSubstr("does not exist either"));
}

TEST(OpenCheckpoint, NoRegularFile) {
  TempFolder folder;
  const std::string pipe = folder.Path("pipe.pt");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(Refusal(pipe), HasSubstr("not a regular file"));
}

TEST(OpenCheckpoint, AFolderInNaturalOrder) {
  TempFolder folder;
  for (int rank : {0, 1, 2, 9, 10, 11}) {
    const std::string n = std::to_string(rank);
    folder.Write("rank_" + n + ".safetensors", FileWith({"k" + n}));
  }
  folder.Write("README.md", "weights");
  folder.Write(".hidden.safetensors", FileWith({"hidden"}));
  folder.Write("deeper/other.safetensors", FileWith({"deeper"}));
  const Catalog catalog = MustOpen(folder.path());
  EXPECT_THAT(Keys(catalog), ElementsAre("k0", "k1", "k2", "k9", "k10", "k11"));
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(catalog.storages[catalog.entries[i].storage].file, i);
  }
}

TEST(OpenCheckpoint, HoweverTheFolderIsSpelled) {
  TempFolder folder;
  folder.Write("sub/a.safetensors", FileWith({"a"}));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.Path("sub"));
  for (const std::string& path : {folder.Path("sub"), folder.Path("sub/"), folder.Path("sub/."),
                                  std::string("."), std::string("../sub")}) {
    const InputSpec spec = Sources({{"a.safetensors", "x."}});
    EXPECT_THAT(Names(MustOpen(path)), ElementsAre("a.safetensors")) << path;
    EXPECT_THAT(Keys(MustOpen(path, spec)), ElementsAre("x.a")) << path;
  }
  EXPECT_THAT(Keys(MustOpen("a.safetensors")), ElementsAre("a"));
  std::filesystem::current_path(before);
}

TEST(OpenCheckpoint, AKeyInTwoFiles) {
  TempFolder folder;
  folder.Write("mp_rank_00.safetensors", FileWith({"w"}));
  folder.Write("mp_rank_01.safetensors", FileWith({"v", "w"}));
  const std::string refusal = Refusal(folder.path());
  EXPECT_THAT(refusal, HasSubstr("the key `w` is in both `mp_rank_00.safetensors` and "
                                 "`mp_rank_01.safetensors`"));
  EXPECT_THAT(refusal, HasSubstr("`source mp_rank_{n:int}.safetensors -> {n}.`"));
}

TEST(OpenCheckpoint, PiecesOfTorchsDistributedCheckpoint) {
  TempFolder folder;
  for (const char* rank : {"1", "2"}) {
    folder.Write("shard-0000" + std::string(rank) + "-model-00001-of-00001.safetensors",
                 FileWith({"w"}));
  }
  EXPECT_THAT(Refusal(folder.path()), HasSubstr("source shard-{n:int}-model"));
  // The same as that library writes them: it notes where the pieces begin.
  for (const char* rank : {"1", "2"}) {
    const std::string header =
        R"({"__metadata__":{"DCP_SHARDING_INFO":"{\"w\": {\"saved_offsets\": [0]}}"},)"
        R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
    folder.Write(
        "shard-0000" + std::string(rank) + "-model-00001-of-00001.safetensors",
        std::string{static_cast<char>(header.size())} + std::string(7, '\0') + header + "x");
  }
  EXPECT_THAT(Refusal(folder.path()), HasSubstr("consolidate_safetensors_files"));
}

TEST(OpenCheckpoint, AFolderWithoutACheckpoint) {
  TempFolder folder;
  folder.Write("README.md", "weights");
  folder.Write("iter_0000100/model.safetensors", FileWith({"a"}));
  const std::string refusal = Refusal(folder.path());
  EXPECT_THAT(refusal, HasSubstr("holds no checkpoint and no index"));
  EXPECT_THAT(refusal, HasSubstr("there is one in `" + folder.Path("iter_0000100") + "`"));
}

TEST(OpenCheckpoint, DoesNotPassOverABrokenShard) {
  TempFolder folder;
  folder.Write("a.safetensors", FileWith({"a"}));
  folder.Write("b.safetensors", "version https://git-lfs.github.com/spec/v1\noid x\nsize 9\n");
  const std::string refusal = Refusal(folder.path());
  EXPECT_THAT(refusal, HasSubstr("git-lfs pointer"));
  EXPECT_THAT(refusal, HasSubstr("b.safetensors"));
}

TEST(OpenCheckpoint, SaysWhichDoubtfulFilesItLeavesOut) {
  TempFolder folder;
  folder.Write("a.safetensors", FileWith({"a"}));
  folder.Write("vocab.bin", std::string("\x01\x02\x03\x04", 4));
  folder.Write("tokenizer.model", std::string("\x01\x02\x03\x04", 4));
  const Catalog catalog = MustOpen(folder.path());
  EXPECT_THAT(Keys(catalog), ElementsAre("a"));
  ASSERT_EQ(catalog.warnings.size(), 1u);
  EXPECT_THAT(catalog.warnings[0].message, HasSubstr("vocab.bin"));
}

TEST(OpenCheckpoint, AFolderOfTorchsDistributedCheckpoint) {
  TempFolder folder;
  folder.Write(".metadata", "\x80\x04.");
  folder.Write("__0_0.distcp", "PK\x03\x04");
  EXPECT_THAT(Refusal(folder.path()), HasSubstr("dcp_to_torch"));
}

// --- Trackers ---------------------------------------------------------------------------------

TEST(OpenCheckpoint, FollowsMegatronsTracker) {
  TempFolder folder;
  folder.Write("iter_0000100/model.safetensors", FileWith({"old"}));
  folder.Write("iter_0005000/model.safetensors", FileWith({"new"}));
  folder.Write("release/model.safetensors", FileWith({"released"}));
  folder.Write("latest_checkpointed_iteration.txt", "5000\n");
  EXPECT_THAT(Keys(MustOpen(folder.path())), ElementsAre("new"));
  folder.Write("latest_checkpointed_iteration.txt", "release");
  EXPECT_THAT(Keys(MustOpen(folder.path())), ElementsAre("released"));
  folder.Write("latest_checkpointed_iteration.txt", "5001");
  EXPECT_THAT(Refusal(folder.path()), HasSubstr("names `iter_0005001`, which is not there"));
  folder.Write("latest_checkpointed_iteration.txt", "../iter");
  EXPECT_THAT(Refusal(folder.path()), HasSubstr("neither an iteration's number nor `release`"));
}

TEST(OpenCheckpoint, FollowsDeepSpeedsTracker) {
  TempFolder folder;
  folder.Write("global_step10/model.safetensors", FileWith({"w"}));
  folder.Write("config.json", R"({"dim": 8})");
  folder.Write("latest", "global_step10");
  const Catalog catalog = MustOpen(folder.path());
  EXPECT_THAT(Keys(catalog), ElementsAre("w"));
  EXPECT_THAT(Names(catalog), ElementsAre("model.safetensors"));
  EXPECT_TRUE(FindMeta(catalog, "config.dim")->has_value());
  for (const char* bad : {"../other", "/etc", "a/../../b", "C:\\x", "..\\x", ""}) {
    folder.Write("latest", bad);
    EXPECT_THAT(Refusal(folder.path()), HasSubstr("bad-path")) << bad;
  }
  folder.Write("latest", "global_step11");
  EXPECT_THAT(Refusal(folder.path()), HasSubstr("did you mean"));
}

TEST(OpenCheckpoint, AnIndexWinsOverATracker) {
  TempFolder folder;
  folder.Write("global_step10/model.safetensors", FileWith({"step"}));
  folder.Write("latest", "global_step10");
  folder.Write("model.safetensors", FileWith({"w"}));
  folder.Write("model.safetensors.index.json", R"({"weight_map": {"w": "model.safetensors"}})");
  EXPECT_THAT(Keys(MustOpen(folder.path())), ElementsAre("w"));
}

// --- Source lines -----------------------------------------------------------------------------

TEST(OpenCheckpoint, SourceLinesPutPrefixes) {
  TempFolder folder;
  folder.Write("mp_rank_00/model.safetensors", FileWith({"w"}, {{"tp", "2"}, {"rank", "0"}}));
  folder.Write("mp_rank_01/model.safetensors", FileWith({"w"}, {{"tp", "2"}, {"rank", "1"}}));
  folder.Write("optimizer.safetensors", FileWith({"m"}));
  const Catalog catalog =
      MustOpen(folder.path(), Sources({{"mp_rank_00/model.safetensors", "tp0."},
                                       {"mp_rank_01/model.safetensors", "tp1."}}));
  EXPECT_THAT(Keys(catalog), ElementsAre("tp0.w", "tp1.w"));
  EXPECT_THAT(Names(catalog),
              ElementsAre("mp_rank_00/model.safetensors", "mp_rank_01/model.safetensors"));
  EXPECT_THAT(catalog.metadata, ElementsAre(Pair("format", "pt"), Pair("tp", "2")));
  ASSERT_EQ(catalog.warnings.size(), 2u);
  EXPECT_THAT(catalog.warnings[0].message, HasSubstr("`rank` differs"));
  EXPECT_EQ(catalog.warnings[1].severity, Severity::kNote);
  EXPECT_THAT(catalog.warnings[1].message, HasSubstr("`optimizer.safetensors`"));
  EXPECT_EQ(std::get<std::string>(**FindMeta(catalog, "tp")), "2");
  EXPECT_FALSE(FindMeta(catalog, "rank").ok());
}

TEST(OpenCheckpoint, SourceLinesMayCollide) {
  TempFolder folder;
  folder.Write("a.safetensors", FileWith({"w"}));
  folder.Write("b.safetensors", FileWith({"w"}));
  EXPECT_THAT(Refusal(folder.path(), Sources({{"a.safetensors", ""}, {"b.safetensors", ""}})),
              HasSubstr("key-in-two-files"));
}

TEST(OpenCheckpoint, SourceLinesThatTakeNothing) {
  TempFolder folder;
  folder.Write("a.safetensors", FileWith({"w"}));
  EXPECT_THAT(Refusal(folder.path(), Sources({})), HasSubstr("`a.safetensors`"));
  EXPECT_THAT(Refusal(folder.Path("a.safetensors"), Sources({})),
              HasSubstr("no `source` line takes the file"));
  EXPECT_THAT(Keys(MustOpen(folder.Path("a.safetensors"), Sources({{"a.safetensors", "x."}}))),
              ElementsAre("x.w"));
}

TEST(OpenCheckpoint, SourceGuardsReadTheFile) {
  TempFolder folder;
  folder.Write("a.safetensors", FileWith({"w"}, {{"ep", "2"}}));
  folder.Write("b.safetensors", FileWith({"w"}, {{"ep", "1"}}));
  InputSpec spec;
  spec.source = [](std::string_view,
                   const InputSpec::File& file) -> Result<std::optional<std::string>> {
    const Result<const Catalog*> catalog = file();
    if (!catalog.ok()) return catalog.error();
    const Result<std::optional<Scalar>> ep = FindMeta(**catalog, "ep");
    if (!ep.ok()) return ep.error();
    return std::optional<std::string>("ep" + std::get<std::string>(**ep) + ".");
  };
  EXPECT_THAT(Keys(MustOpen(folder.path(), spec)), ElementsAre("ep2.w", "ep1.w"));
}

TEST(OpenCheckpoint, SourceLinesWinOverAnIndex) {
  TempFolder folder;
  folder.Write("model.safetensors", FileWith({"w"}));
  folder.Write("model.safetensors.index.json", R"({"weight_map": {"w": "model.safetensors"}})");
  const InputSpec spec = Sources({{"model.safetensors", "x."}});
  EXPECT_THAT(Keys(MustOpen(folder.path(), spec)), ElementsAre("x.w"));
  EXPECT_THAT(Keys(MustOpen(folder.Path("model.safetensors.index.json"), spec)),
              ElementsAre("x.w"));
}

// --- Index ------------------------------------------------------------------------------------

TEST(Index, ReadsItsShards) {
  for (const char* name :
       {"safetensors/sharded", "safetensors/sharded/model.safetensors.index.json"}) {
    const Catalog catalog = MustOpen(DataPath(name));
    EXPECT_THAT(Keys(catalog), ElementsAre("embed.weight", "layers.0.w", "layers.1.w",
                                           "layers.10.w", "norm.weight"));
    EXPECT_THAT(catalog.warnings, IsEmpty());
    EXPECT_EQ(catalog.entries[4].dtype, DType::kBF16);
    EXPECT_EQ(catalog.storages[catalog.entries[4].storage].file, 2u);
    EXPECT_EQ(std::get<int64_t>(**FindMeta(catalog, "config.hidden_size")), 2);
    EXPECT_EQ(std::get<double>(**FindMeta(catalog, "config.rope.theta")), 1e4);
    EXPECT_EQ(std::get<int64_t>(**FindMeta(catalog, "config.experts.1")), 8);
  }
}

class BadIndex : public ::testing::Test {
 protected:
  BadIndex() {
    folder_.Write("one.safetensors", FileWith({"a", "b"}));
    folder_.Write("two.safetensors", FileWith({"c"}));
  }
  std::string IndexWith(const std::string& text) {
    return folder_.Write("model.safetensors.index.json", text);
  }
  std::string RefusalOf(const std::string& text) { return Refusal(IndexWith(text)); }
  TempFolder folder_;
};

TEST_F(BadIndex, NamesThatLeaveTheFolder) {
  for (const char* name : {"../one.safetensors", "/etc/passwd", "sub/../../x", "..\\\\x", "C:\\\\x",
                           "D:x", "", "a\\u0000b", "\\\\\\\\server\\\\x"}) {
    const std::string refusal =
        RefusalOf(R"({"weight_map": {"a": "one.safetensors", "b": ")" + std::string(name) + "\"}}");
    EXPECT_THAT(refusal, HasSubstr("bad-path")) << name;
  }
}

TEST_F(BadIndex, AShardThatIsNotThere) {
  const std::string refusal = RefusalOf(
      R"({"weight_map": {"a": "one.safetensors", "x": "three.safetensors", "y": "three.safetensors",
          "z": "four.safetensors"}})");
  EXPECT_THAT(refusal, HasSubstr("absent-shard"));
  EXPECT_THAT(refusal, HasSubstr("`four.safetensors`"));
  EXPECT_THAT(refusal, HasSubstr("should hold 1 key"));
  EXPECT_THAT(refusal, HasSubstr("2 of 3 shards are not there; the others: `three.safetensors`"));
}

TEST_F(BadIndex, AShardThatLacksItsKey) {
  const std::string refusal = RefusalOf(
      R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors",
          "d": "two.safetensors", "e": "one.safetensors"}})");
  EXPECT_THAT(refusal, HasSubstr("absent-key"));
  EXPECT_THAT(refusal, HasSubstr("the key `d` in the shard `two.safetensors`"));
  EXPECT_THAT(refusal, HasSubstr("2 keys are missing"));
}

TEST_F(BadIndex, KeysThatItDoesNotName) {
  const Catalog catalog =
      MustOpen(IndexWith(R"({"weight_map": {"a": "one.safetensors", "c": "two.safetensors"}})"));
  EXPECT_THAT(Keys(catalog), ElementsAre("a", "b", "c"));
  ASSERT_EQ(catalog.warnings.size(), 1u);
  EXPECT_THAT(catalog.warnings[0].message, HasSubstr("holds 1 key that"));
  EXPECT_THAT(catalog.warnings[0].message, HasSubstr("`b`"));
}

TEST_F(BadIndex, KeysThatItFindsElsewhere) {
  folder_.Write("two.safetensors", FileWith({"c", "a"}));
  const Catalog catalog = MustOpen(IndexWith(
      R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors"}})"));
  EXPECT_THAT(Keys(catalog), ElementsAre("a", "b", "c"));
  EXPECT_EQ(catalog.storages[catalog.entries[0].storage].file, 0u);
  ASSERT_EQ(catalog.warnings.size(), 1u);
  EXPECT_THAT(catalog.warnings[0].message, HasSubstr("finds in another shard, such as `a`"));
}

TEST_F(BadIndex, SharedTensorsNeedNoName) {
  OutputDescription description;
  description.tensors = {
      {.key = "a", .dtype = DType::kU8, .shape = {1}, .bytes = 1, .same_as = 0},
      {.key = "tied", .dtype = DType::kU8, .shape = {1}, .bytes = 1, .same_as = 0}};
  folder_.Write("one.safetensors", LayOutSafetensors(description)->literals[0].bytes + "x");
  const Catalog catalog = MustOpen(IndexWith(R"({"weight_map": {"a": "one.safetensors"}})"));
  EXPECT_THAT(Keys(catalog), ElementsAre("a", "tied"));
  EXPECT_THAT(catalog.warnings, IsEmpty());
}

TEST_F(BadIndex, WhatIsNoIndex) {
  EXPECT_THAT(RefusalOf(R"({"a": 1})"), HasSubstr("without a weight_map"));
  EXPECT_THAT(RefusalOf(R"({"x": {"weight_map": {"a": "one.safetensors"}}})"),
              HasSubstr("without a weight_map"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": {}})"), HasSubstr("is empty"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": null})"), HasSubstr("bad-index"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": ["a"]})"), HasSubstr("bad-index"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": {"a": 1}})"), HasSubstr("bad-index"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": {"a": {"b": "c"}}})"), HasSubstr("bad-index"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": {"a": "one.safetensors"}, "weight_map": {}})"),
              HasSubstr("bad-index"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": {"a": "one.safetensors", "a": "two.safetensors"}})"),
              HasSubstr("`a` stands twice"));
  EXPECT_THAT(RefusalOf(R"({"weight_map": {"a": "one.safetensors")"), HasSubstr("is not JSON"));
  EXPECT_THAT(RefusalOf(R"({"m": )" + std::string(1'000'000, '[')), HasSubstr("weight_map"));
}

TEST_F(BadIndex, AGitLfsPointerInItsPlace) {
  IndexWith("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
  EXPECT_THAT(Refusal(folder_.path()), HasSubstr("git-lfs pointer"));
}

TEST_F(BadIndex, TwoOfThem) {
  IndexWith(R"({"weight_map": {"a": "one.safetensors"}})");
  folder_.Write("pytorch_model.bin.index.json", R"({"weight_map": {"a": "one.safetensors"}})");
  EXPECT_THAT(Refusal(folder_.path()), HasSubstr("has 2 indexes"));
}

TEST(Index, OfManyShardsOpensFewFiles) {
  constexpr size_t kShards = 5000;
  TempFolder folder;
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < kShards; ++i) {
    names.push_back(ShardName("model", ".safetensors", i, kShards));
    texts.push_back("layers." + std::to_string(i) + ".w");
    folder.Write(names.back(), FileWith({texts.back()}));
  }
  std::vector<std::pair<std::string_view, uint32_t>> keys;
  for (uint32_t i = 0; i < kShards; ++i) keys.emplace_back(texts[i], i);
  const Result<std::string> index = IndexText(keys, names, kShards);
  ASSERT_TRUE(index.ok());
  folder.Write("model.safetensors.index.json", *index);
  const Catalog catalog = MustOpen(folder.path());
  EXPECT_EQ(catalog.entries.size(), kShards);
  EXPECT_EQ(catalog.entries[4999].key, "layers.4999.w");
  size_t descriptors = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++descriptors;
  }
  EXPECT_LT(descriptors, 50u);
}

// --- Parts ------------------------------------------------------------------------------------

TEST(Folder, NaturalOrder) {
  EXPECT_TRUE(NaturalLess("rank9", "rank10"));
  EXPECT_FALSE(NaturalLess("rank10", "rank9"));
  EXPECT_TRUE(NaturalLess("a", "b"));
  EXPECT_TRUE(NaturalLess("a", "a1"));
  EXPECT_TRUE(NaturalLess("a007b", "a8a"));
  EXPECT_TRUE(NaturalLess("a07", "a7"));
  EXPECT_FALSE(NaturalLess("a7", "a07"));
  EXPECT_FALSE(NaturalLess("x", "x"));
  EXPECT_TRUE(NaturalLess("99999999999999999999998", "99999999999999999999999"));
  EXPECT_TRUE(NaturalLess("a0", "a00"));
}

TEST(Folder, FollowsLinksToFilesButNotToFolders) {
  TempFolder folder;
  folder.Write("blobs/abc", FileWith({"w"}));
  folder.Write("outside/x.safetensors", FileWith({"x"}));
  std::filesystem::create_directories(folder.Path("snapshot"));
  std::filesystem::create_symlink("../blobs/abc", folder.Path("snapshot/model.safetensors"));
  std::filesystem::create_symlink("../outside", folder.Path("snapshot/sub"));
  std::filesystem::create_symlink("nowhere", folder.Path("snapshot/gone"));
  const Result<std::vector<std::string>> names = ListFiles(folder.Path("snapshot"), Depth::kAll);
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, ElementsAre("model.safetensors"));
  EXPECT_THAT(Keys(MustOpen(folder.Path("snapshot"))), ElementsAre("w"));
}

TEST(Join, SuggestsSourceLines) {
  EXPECT_THAT(SourceLinesFor("mp_rank_00/model.pt", "mp_rank_01/model.pt"),
              ElementsAre("source mp_rank_{n:int}/model.pt -> {n}."));
  EXPECT_THAT(SourceLinesFor("tp0_pp1.pt", "tp1_pp0.pt"),
              ElementsAre("source tp{n:int}_pp{m:int}.pt -> {n}.{m}."));
  EXPECT_THAT(SourceLinesFor("model.pt", "ema.pt"),
              ElementsAre("source model.pt -> model.", "source ema.pt -> ema."));
  EXPECT_THAT(SourceLinesFor("my file 1.pt", "my file 2.pt"),
              ElementsAre("source \"my file {n:int}.pt\" -> {n}."));
  EXPECT_THAT(SourceLinesFor("a{b}.pt", "c.pt"), Contains("source a\\{b\\}.pt -> a\\{b\\}."));
}

TEST(Join, KeepsTreesApartAndModulesWithoutPrefixOnly) {
  const auto part = [](int64_t epoch) {
    Catalog catalog;
    catalog.files.push_back({.path = "f", .name = "f"});
    ObjectGraph& graph = *catalog.objects;
    const ObjectId key = graph.Add({.kind = Object::Kind::kText, .text = "epoch"});
    const ObjectId value = graph.Add({.kind = Object::Kind::kInt, .integer = epoch});
    const ObjectId dict = graph.Add({.kind = Object::Kind::kDict, .items = {key, value}});
    catalog.meta.push_back({.object = dict});
    catalog.module_metadata.push_back({"", dict});
    catalog.callables = {"os.system", "a.b"};
    return catalog;
  };
  CatalogJoiner joiner;
  joiner.Add(part(1), "x.");
  joiner.Add(part(2), "");
  joiner.Add(part(3), "");
  const Result<Catalog> whole = joiner.Finish();
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ(whole->meta.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(whole->meta[i].file, i);
    const ObjectId epoch = whole->objects->Find(whole->meta[i].object, "epoch");
    EXPECT_EQ((*whole->objects)[epoch].integer, i + 1);
  }
  ASSERT_EQ(whole->module_metadata.size(), 1u);
  EXPECT_EQ(whole->module_metadata[0].value, whole->meta[1].object);
  EXPECT_THAT(whole->callables, ElementsAre("a.b", "os.system"));
}

TEST(InputFile, RefusesAFileThatChanged) {
  TempFolder folder;
  const std::string path = folder.Write("a", "12345678");
  Result<InputFile> file = InputFile::Open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(InputFile::Reopen(file->info()).ok());
  EXPECT_EQ(*file->ReadText(2, 3), "345");
  EXPECT_FALSE(file->ReadText(6, 3).ok());
  EXPECT_FALSE(file->ReadText(~uint64_t{0}, 2).ok());
  EXPECT_FALSE(file->ReadText(0, ~uint64_t{0}).ok());
  ASSERT_EQ(truncate(path.c_str(), 4), 0);
  EXPECT_EQ(file->ReadText(2, 4).error().name, "file-changed");
  EXPECT_EQ(InputFile::Reopen(file->info()).error().name, "file-changed");
}

// --- Shards -----------------------------------------------------------------------------------

std::vector<OutputTensor> Sizes(const std::vector<uint64_t>& sizes) {
  std::vector<OutputTensor> tensors;
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    tensors.push_back({.key = "k", .bytes = sizes[i], .same_as = i});
  }
  return tensors;
}

TEST(Shards, FillUpInOrder) {
  EXPECT_THAT(AssignShards(Sizes({4, 4, 4, 4, 4}), 10), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_THAT(AssignShards(Sizes({5, 5, 5}), 10), ElementsAre(0, 0, 1));
  EXPECT_THAT(AssignShards(Sizes({100, 1, 1}), 10), ElementsAre(0, 1, 1));
  EXPECT_THAT(AssignShards(Sizes({1, 100, 1}), 10), ElementsAre(0, 1, 2));
  EXPECT_THAT(AssignShards(Sizes({0, 0, 100, 0}), 10), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(AssignShards(Sizes({1, 1}), 0), ElementsAre(0, 1));
  EXPECT_THAT(AssignShards({}, 10), IsEmpty());
}

TEST(Shards, KeepTiesTogether) {
  std::vector<OutputTensor> tensors = Sizes({8, 8, 8, 8});
  tensors[2].same_as = 0;
  EXPECT_THAT(AssignShards(tensors, 10), ElementsAre(0, 1, 0, 2));
}

TEST(Shards, AreNamedAsLoadersExpect) {
  EXPECT_EQ(ShardName("model", ".safetensors", 0, 5), "model-00001-of-00005.safetensors");
  EXPECT_EQ(ShardName(ShardStem(".bin"), ".bin", 11, 12), "pytorch_model-00012-of-00012.bin");
  EXPECT_EQ(IndexName("model", ".safetensors"), "model.safetensors.index.json");
  EXPECT_EQ(IndexName(ShardStem(".bin"), ".bin"), "pytorch_model.bin.index.json");
}

TEST(Shards, IndexIsSorted) {
  const Result<std::string> text = IndexText({{"b", 0}, {"a", 1}}, {"x-1", "x-2"}, 12);
  ASSERT_TRUE(text.ok());
  // Python: json.dumps({...}, indent=2, sort_keys=True) + "\n"
  EXPECT_EQ(*text,
            "{\n  \"metadata\": {\n    \"total_size\": 12\n  },\n  \"weight_map\": {\n"
            "    \"a\": \"x-2\",\n    \"b\": \"x-1\"\n  }\n}\n");
  EXPECT_FALSE(IndexText({{"\xff", 0}}, {"x"}, 1).ok());
}

// Trainers keep arguments and optimizers in torch files beside the weights.
TEST(OpenCheckpoint, TorchFilesWithoutAStateDictAreLeftOut) {
  TempFolder folder;
  const std::string arguments = ReadAll(DataPath("survivors/bad/no_tensors.pt"));
  folder.Write("training_args.bin", arguments);
  const Result<Catalog> alone = OpenCheckpoint(folder.path(), {});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().name, "no-state-dict");
  folder.Write("model.safetensors", FileWith({"w"}));
  const Catalog catalog = MustOpen(folder.path());
  EXPECT_THAT(Keys(catalog), ElementsAre("w"));
  ASSERT_EQ(catalog.warnings.size(), 1u);
  EXPECT_EQ(catalog.warnings[0].name, "left-out");
  EXPECT_THAT(catalog.warnings[0].message, HasSubstr("training_args.bin"));
}

}  // namespace
}  // namespace rekey
