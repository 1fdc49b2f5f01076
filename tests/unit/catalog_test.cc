#include "engine/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/files.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Entry MakeEntry(std::string_view key, uint32_t storage, uint64_t start, Shape shape) {
  Entry entry;
  entry.key = key;
  entry.storage = storage;
  entry.start = start;
  entry.strides = ContiguousStrides(shape);
  entry.shape = std::move(shape);
  return entry;
}

TEST(TextArena, KeepsTextsWhereTheyAre) {
  TextArena arena;
  std::vector<std::pair<std::string, std::string_view>> texts;
  for (size_t i = 0; i < 20'000; ++i) {
    const std::string text(i % 300, static_cast<char>('a' + i % 26));
    texts.emplace_back(text, arena.Add(text));
  }
  const std::string large(5'000'000, 'x');
  const std::string_view kept = arena.Add(large);
  texts.emplace_back("layer.weight", arena.Add("layer.", "weight"));
  for (const auto& [text, view] : texts) ASSERT_EQ(text, view);
  EXPECT_EQ(kept, large);
  EXPECT_EQ(arena.Add("", ""), "");
}

TEST(Catalog, FindsTheFirstDuplicateKey) {
  std::vector<Entry> entries;
  for (std::string_view key : {"a", "b", "c", "b", "a", "b"}) {
    entries.push_back(MakeEntry(key, 0, 0, {1}));
  }
  const auto twice = FindDuplicateKey(entries);
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(*twice, (std::pair<uint32_t, uint32_t>(1, 3)));
  entries.resize(3);
  EXPECT_EQ(FindDuplicateKey(entries), std::nullopt);
  EXPECT_EQ(FindDuplicateKey({}), std::nullopt);
}

TEST(Catalog, FindsAliases) {
  Catalog catalog;
  catalog.storages.resize(2);
  catalog.entries = {
      MakeEntry("a", 0, 0, {2, 3}), MakeEntry("b", 0, 0, {2, 3}),  // the same
      MakeEntry("c", 1, 0, {2, 3}),                                // another storage
      MakeEntry("d", 0, 4, {2, 3}),                                // another start
      MakeEntry("e", 0, 0, {3, 2}),                                // another shape
      MakeEntry("f", 0, 0, {2, 3}), MakeEntry("g", 0, 0, {2, 3}),  // other strides, conj
      MakeEntry("h", 0, 0, {2, 3}), MakeEntry("i", 0, 0, {2, 3}),  // neg, dtype
      MakeEntry("j", 0, 0, {0, 3}), MakeEntry("k", 0, 0, {0, 3}),  // nothing in them
      MakeEntry("l", 0, 0, {2, 3}), MakeEntry("m", 0, 0, {2, 3}),  // meta tensors
      MakeEntry("n", 0, 0, {2, 3}),                                // as a and b
  };
  catalog.entries[5].strides = {1, 2};
  catalog.entries[6].conj = true;
  catalog.entries[7].neg = true;
  catalog.entries[8].dtype = DType::kI32;
  catalog.entries[11].no_bytes = catalog.entries[12].no_bytes = true;
  EXPECT_THAT(Aliases(catalog), ElementsAre(0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0));
}

TEST(Catalog, KnowsWhatCanBeCopied) {
  Catalog catalog;
  catalog.storages.resize(3);
  catalog.storages[1].packing = Storage::Packing::kDeflate;
  catalog.storages[2].big_endian = true;
  Entry entry = MakeEntry("a", 0, 0, {2, 3});
  EXPECT_EQ(DataBytes(entry), 24u);
  EXPECT_TRUE(IsPlainCopy(catalog, entry));
  entry.storage = 1;
  EXPECT_FALSE(IsPlainCopy(catalog, entry));
  entry.storage = 2;
  EXPECT_FALSE(IsPlainCopy(catalog, entry));
  entry.dtype = DType::kI8;  // bytes have no order
  EXPECT_TRUE(IsPlainCopy(catalog, entry));
  entry.storage = 0;
  entry.strides = {1, 2};
  EXPECT_FALSE(IsPlainCopy(catalog, entry));
  entry.strides = {3, 1};
  for (bool Entry::*flag : {&Entry::conj, &Entry::neg, &Entry::no_bytes}) {
    entry.*flag = true;
    EXPECT_FALSE(IsPlainCopy(catalog, entry));
    entry.*flag = false;
  }
}

// {"args": {"layers": <layers>}}
MetaRoot AddArgs(Catalog& catalog, Object layers) {
  ObjectGraph& graph = *catalog.objects;
  const ObjectId value = graph.Add(std::move(layers));
  const ObjectId name = graph.Add({.kind = Object::Kind::kText, .text = "layers"});
  const ObjectId args = graph.Add({.kind = Object::Kind::kDict, .items = {name, value}});
  const ObjectId key = graph.Add({.kind = Object::Kind::kText, .text = "args"});
  MetaRoot root;
  root.object = graph.Add({.kind = Object::Kind::kDict, .items = {key, args}});
  root.file = static_cast<uint32_t>(catalog.files.size());
  catalog.files.push_back({.path = "rank" + std::to_string(catalog.files.size()) + ".pt"});
  return root;
}

TEST(FindMeta, WantsFilesToAgree) {
  Catalog catalog;
  catalog.meta.push_back(AddArgs(catalog, {.kind = Object::Kind::kInt, .integer = 12}));
  catalog.meta.push_back(AddArgs(catalog, {.kind = Object::Kind::kInt, .integer = 12}));
  const Result<std::optional<Scalar>> same = FindMeta(catalog, "args.layers");
  ASSERT_TRUE(same.ok() && same->has_value());
  EXPECT_EQ(std::get<int64_t>(**same), 12);

  catalog.meta.push_back(AddArgs(catalog, {.kind = Object::Kind::kInt, .integer = 24}));
  const Result<std::optional<Scalar>> differs = FindMeta(catalog, "args.layers");
  ASSERT_FALSE(differs.ok());
  EXPECT_EQ(differs.error().name, "meta-differs");
  EXPECT_THAT(differs.error().message, HasSubstr("12 in `rank0.pt`, 24 in `rank2.pt`"));
}

TEST(FindMeta, TakesNumbersThatAreNoNumberForTheSame) {
  Catalog catalog;
  const Object nan{.kind = Object::Kind::kFloat, .real = __builtin_nan("")};
  catalog.meta.push_back(AddArgs(catalog, nan));
  catalog.meta.push_back(AddArgs(catalog, nan));
  EXPECT_TRUE(FindMeta(catalog, "args.layers").ok());
}

TEST(FindMeta, ReadsJsonFilesByTheirName) {
  TempFolder folder;
  Catalog catalog;
  catalog.meta.push_back(
      {.prefix = "config",
       .json_path = folder.Write("config.json", R"({"hidden": 64, "experts": [4, 8.5]})")});
  catalog.meta.push_back({.prefix = "broken", .json_path = folder.Write("broken.json", "{")});
  const auto find = [&](std::string_view path) {
    Result<std::optional<Scalar>> found = FindMeta(catalog, path);
    EXPECT_TRUE(found.ok()) << path;
    return found.ok() ? *found : std::nullopt;
  };
  EXPECT_EQ(find("config.hidden"), Scalar(int64_t{64}));
  EXPECT_EQ(find("config.experts.1"), Scalar(8.5));
  EXPECT_EQ(find("config.experts"), std::nullopt);  // a list is no scalar
  EXPECT_EQ(find("config.absent"), std::nullopt);
  EXPECT_EQ(find("configs.hidden"), std::nullopt);
  EXPECT_EQ(find("hidden"), std::nullopt);
  const Result<std::optional<Scalar>> broken = FindMeta(catalog, "broken.x");
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.error().message, HasSubstr("broken.json"));
}

}  // namespace
}  // namespace rekey
