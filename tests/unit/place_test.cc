#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A plan made by hand: outputs that copy f32 tensors of a source file.
class PlaceTest : public testing::Test {
 protected:
  struct Tensor {
    const char* key;
    int64_t elements;
    int same_as = -1;
  };

  void SetUp() override {
    std::string folder = testing::TempDir() + "place-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder + "/";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Make(const std::vector<Tensor>& tensors, DType dtype = DType::kF32) {
    uint64_t offset = 1000;
    for (const Tensor& tensor : tensors) {
      Storage storage;
      storage.offset = offset;
      storage.bytes = storage.stored_bytes =
          static_cast<uint64_t>(tensor.elements * BitsOf(dtype) / 8);
      storage.has_crc = true;
      storage.crc32 = static_cast<uint32_t>(offset);
      offset += storage.bytes;
      Entry entry;
      entry.key = tensor.key;
      entry.dtype = dtype;
      entry.shape = {tensor.elements};
      entry.strides = {1};
      entry.storage = static_cast<uint32_t>(catalog_.storages.size());
      catalog_.storages.push_back(storage);
      catalog_.entries.push_back(entry);
    }
    plan_ = std::make_unique<Plan>(Rewritten(catalog_));
    for (uint32_t i = 0; i < tensors.size(); ++i) {
      OutputKey output;
      output.key = tensors[i].key;
      output.tensor = i;
      plan_->rewritten.outputs.push_back(output);
      plan_->same_as.push_back(tensors[i].same_as < 0 ? i
                                                      : static_cast<uint32_t>(tensors[i].same_as));
      Lowered lowered;
      lowered.type = {dtype, {tensors[i].elements}};
      lowered.bytes = catalog_.storages[i].bytes;
      Piece piece;
      piece.storage = i;
      piece.dims = {{static_cast<int64_t>(lowered.bytes), 1, 1}};
      lowered.pieces = {piece};
      plan_->lowered.push_back(std::move(lowered));
    }
  }

  // sink REGEX -> TARGET, where the target is `before`, the first group, `after`.
  void AddSink(const std::string& regex, const std::string& before, const std::string& after) {
    PathRule sink;
    sink.pattern.regex = regex;
    sink.pattern.re = std::make_shared<re2::RE2>(regex);
    sink.pattern.groups = {1};
    sink.variables.resize(1);
    KeyTarget::Part text, group, rest;
    text.text = before;
    group.code = std::make_unique<Code>();
    group.code->kind = Code::Kind::kVariable;
    group.code->variable = Variable::Kind::kText;
    rest.text = after;
    sink.target.parts = {text, group, rest};
    program_.sinks.push_back(std::move(sink));
  }

  Result<Placed> Run(const std::string& out, const PlaceOptions& options = {}) {
    return Place(*plan_, program_, folder_ + out, options);
  }

  std::vector<std::string> Names(const Placed& placed) {
    std::vector<std::string> names;
    for (const PlacedFile& file : placed.files) {
      EXPECT_EQ(file.path.compare(0, folder_.size(), folder_), 0) << file.path;
      names.push_back(file.path.substr(folder_.size()));
    }
    return names;
  }

  std::string folder_;
  Catalog catalog_;
  Program program_;
  std::unique_ptr<Plan> plan_;
};

std::string HeaderOf(const PlacedFile& file) { return file.layout.literals.front().bytes; }

TEST_F(PlaceTest, ExtensionPicksTheFormat) {
  Make({{"a", 4}, {"b", 2}});
  const Result<Placed> placed = Run("model.safetensors");
  ASSERT_TRUE(placed.ok());
  EXPECT_THAT(Names(*placed), ElementsAre("model.safetensors"));
  EXPECT_FALSE(placed->folder);
  EXPECT_EQ(placed->index_path, "");
  EXPECT_EQ(placed->total, placed->files[0].layout.size);
  EXPECT_THAT(placed->files[0].outputs, ElementsAre(0, 1));
  EXPECT_THAT(HeaderOf(placed->files[0]), HasSubstr("\"a\""));
  for (const char* name : {"model.pt", "model.pth", "model.bin", "model.ckpt"}) {
    const Result<Placed> torch = Run(name);
    ASSERT_TRUE(torch.ok()) << torch.error().message;
    EXPECT_THAT(HeaderOf(torch->files[0]), HasSubstr("model/data.pkl"));  // root: the file's stem
  }
}

TEST_F(PlaceTest, ToWinsOverTheExtension) {
  Make({{"a", 4}});
  PlaceOptions options;
  options.to = "torch";
  EXPECT_THAT(HeaderOf(Run("x.safetensors", options)->files[0]), HasSubstr("x/data.pkl"));
  options.to = "safetensors";
  EXPECT_THAT(HeaderOf(Run("x.weights", options)->files[0]), HasSubstr("data_offsets"));
  options.to = "pt";  // an extension does too
  EXPECT_TRUE(Run("x", options).ok());
  options.to = "safetensor";
  const Result<Placed> wrong = Run("x", options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(Render(wrong.error(), false), HasSubstr("did you mean `safetensors`?"));
}

TEST_F(PlaceTest, UnknownExtensionListsTheFormats) {
  Make({{"a", 4}});
  const Result<Placed> placed = Run("model.safetensor");
  ASSERT_FALSE(placed.ok());
  const std::string text = Render(placed.error(), false);
  EXPECT_THAT(text, HasSubstr("`.safetensor`"));
  EXPECT_THAT(text, HasSubstr("did you mean `.safetensors`?"));
  EXPECT_THAT(text, HasSubstr("torch: .pt .pth .bin .ckpt"));
  EXPECT_THAT(Render(Run("model").error(), false), HasSubstr("has no extension"));
}

TEST_F(PlaceTest, TypeThatTheFormatLacksNamesTheKey) {
  Make({{"odd", 4}}, DType::kC128);
  const Result<Placed> placed = Run("m.safetensors");
  ASSERT_FALSE(placed.ok());
  EXPECT_THAT(placed.error().message, HasSubstr("`odd` is c128"));
  EXPECT_THAT(Render(placed.error(), false), HasSubstr("help: "));
  EXPECT_TRUE(Run("m.pt").ok());
}

TEST_F(PlaceTest, CopiesCarryPhaseAndCrc) {
  Make({{"a", 1024}});
  const Result<Placed> safetensors = Run("m.safetensors");
  // Byte 1000 of the source: the same place in a page, so that pages can be shared.
  EXPECT_EQ(safetensors->files[0].layout.offsets[0] % 4096, 1000u);
  EXPECT_TRUE(Run("m.pt")->files[0].layout.crcs.empty());
  catalog_.storages[0].crc32 = 0;  // a saver that does not write it
  EXPECT_FALSE(Run("m.pt")->files[0].layout.crcs.empty());
  catalog_.storages[0].crc32 = 7;
  plan_->lowered[0].pieces[0].fixes.swap_bytes = true;
  EXPECT_FALSE(Run("m.pt")->files[0].layout.crcs.empty());
}

TEST_F(PlaceTest, TiesShareBytesUnlessCopied) {
  Make({{"a", 64}, {"b", 64, 0}});
  const Result<Placed> shared = Run("m.safetensors");
  ASSERT_TRUE(shared.ok());
  EXPECT_THAT(HeaderOf(shared->files[0]), HasSubstr("\"b\":\"a\""));  // dropped -> kept
  EXPECT_EQ(shared->files[0].layout.offsets[0], shared->files[0].layout.offsets[1]);
  const Result<Placed> torch = Run("m.pt");
  EXPECT_EQ(torch->files[0].layout.offsets[0], torch->files[0].layout.offsets[1]);
  PlaceOptions options;
  options.copy_ties = true;
  const Result<Placed> copied = Run("m.safetensors", options);
  EXPECT_NE(copied->files[0].layout.offsets[0], copied->files[0].layout.offsets[1]);
  EXPECT_EQ(copied->total - shared->total,
            256u + (HeaderOf(copied->files[0]).size() - HeaderOf(shared->files[0]).size()));
}

TEST_F(PlaceTest, MetadataIsKeptAndStamped) {
  catalog_.metadata = {{"format", "pt"}, {"rules", "old"}, {"author", "someone"}};
  Make({{"a", 4}});
  PlaceOptions options;
  options.stamp = {{"rules", "clean.rekey"}, {"sha256", "00ff"}};
  const std::string header = HeaderOf(Run("m.safetensors", options)->files[0]);
  EXPECT_THAT(header, HasSubstr("\"author\":\"someone\""));
  EXPECT_THAT(header, HasSubstr("\"rules\":\"clean.rekey\""));
  EXPECT_THAT(header, HasSubstr("\"sha256\":\"00ff\""));
}

TEST_F(PlaceTest, FolderOfOneFileHasNoIndex) {
  Make({{"a", 4}});
  for (const char* out : {"out/", ""}) {  // a slash; a folder that is there
    const Result<Placed> placed = Run(out);
    ASSERT_TRUE(placed.ok());
    EXPECT_TRUE(placed->folder);
    EXPECT_THAT(Names(*placed), ElementsAre(std::string(out) + "model.safetensors"));
    EXPECT_EQ(placed->index_path, "");
  }
}

TEST_F(PlaceTest, ShardsAreNamedAndIndexedAsHuggingFaceDoes) {
  Make({{"a", 100}, {"b", 100}, {"c", 100}, {"d", 100, 1}});
  PlaceOptions options;
  options.max_shard_size = 800;
  const Result<Placed> placed = Run("out", options);
  ASSERT_TRUE(placed.ok());
  EXPECT_TRUE(placed->folder);
  EXPECT_THAT(Names(*placed), ElementsAre("out/model-00001-of-00002.safetensors",
                                          "out/model-00002-of-00002.safetensors"));
  EXPECT_THAT(placed->files[0].outputs, ElementsAre(0, 1, 3));  // d stays with b
  EXPECT_THAT(placed->files[1].outputs, ElementsAre(2));
  EXPECT_EQ(placed->index_path, folder_ + "out/model.safetensors.index.json");
  EXPECT_THAT(placed->index_text, HasSubstr("\"total_size\": 1200"));
  EXPECT_THAT(placed->index_text, HasSubstr("\"c\": \"model-00002-of-00002.safetensors\""));
  // An index never names a tensor that was not written.
  EXPECT_THAT(placed->index_text, testing::Not(HasSubstr("\"d\"")));
  EXPECT_EQ(placed->total, placed->files[0].layout.size + placed->files[1].layout.size +
                               placed->index_text.size());

  options.to = "torch";
  const Result<Placed> torch = Run("out", options);
  EXPECT_THAT(Names(*torch), ElementsAre("out/pytorch_model-00001-of-00002.bin",
                                         "out/pytorch_model-00002-of-00002.bin"));
  EXPECT_EQ(torch->index_path, folder_ + "out/pytorch_model.bin.index.json");
  EXPECT_THAT(torch->index_text, HasSubstr("\"d\""));
}

TEST_F(PlaceTest, ShardsNeedAFolder) {
  Make({{"a", 100}});
  PlaceOptions options;
  options.max_shard_size = 800;
  EXPECT_THAT(Render(Run("m.safetensors", options).error(), false), HasSubstr("-o m/"));
  options.max_shard_size = 0;
  EXPECT_FALSE(Run("out/", options).ok());
}

TEST_F(PlaceTest, SinksTurnPrefixesIntoFiles) {
  Make({{"tp0.a", 4}, {"tp1.a", 4}, {"tp0.b", 4}});
  AddSink("tp(\\d+)\\.", "mp_rank_", "/model.safetensors");
  const Result<Placed> placed = Run("out");
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_TRUE(placed->folder);
  EXPECT_THAT(Names(*placed),
              ElementsAre("out/mp_rank_0/model.safetensors", "out/mp_rank_1/model.safetensors"));
  EXPECT_THAT(placed->files[0].outputs, ElementsAre(0, 2));
  EXPECT_THAT(HeaderOf(placed->files[0]), HasSubstr("\"a\":"));
  EXPECT_THAT(HeaderOf(placed->files[0]), testing::Not(HasSubstr("tp0")));
}

TEST_F(PlaceTest, SinksThatCollideOrLeadOut) {
  Make({{"tp0.a", 4}, {"tp1.a", 4}});
  AddSink("(tp)\\d+\\.", "", ".safetensors");
  Result<Placed> placed = Run("out");
  ASSERT_FALSE(placed.ok());
  EXPECT_THAT(placed.error().message, HasSubstr("`tp0.a` and `tp1.a`"));

  program_.sinks.clear();
  AddSink("tp(0)\\.", "", ".safetensors");
  EXPECT_THAT(Run("out").error().message, HasSubstr("no `sink` takes the key `tp1.a`"));
  EXPECT_THAT(Render(Run("out.safetensors").error(), false), HasSubstr("name a folder"));

  for (const char* bad : {"../", "/", "x/../../", "x//"}) {
    program_.sinks.clear();
    AddSink("tp(\\d+)\\.", bad, ".safetensors");
    placed = Run("out");
    ASSERT_FALSE(placed.ok()) << bad;
    EXPECT_THAT(placed.error().message, HasSubstr("no file below the output folder"));
  }
}

}  // namespace
}  // namespace rekey
