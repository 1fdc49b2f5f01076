// The legacy stream by hand: its five pickles, its storages, and what may be wrong with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/formats/format.h"
#include "tests/support/files.h"
#include "tests/support/gather.h"

namespace rekey {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

const std::string kMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s;
const std::string kVersion = "\x80\x02M\xe9\x03."s;
const std::string kSystem = "\x80\x02}U\rlittle_endian\x88s."s;
const std::string kNoView = "N";

// A float tensor [2] from element `offset` of storage `key`, with a view of it.
std::string Tensor(const std::string& key, int numel, const std::string& view = kNoView,
                   int offset = 0) {
  const auto number = [](int value) { return "K"s + static_cast<char>(value); };
  return "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU"s +
         static_cast<char>(key.size()) + key +
         "U\x03"
         "cpu" +
         number(numel) + view + "tQ" + number(offset) +
         "K\x02\x85K\x01\x85\x89"
         "ccollections\nOrderedDict\n)RtR";
}

std::string Keys(const std::string& keys) { return "\x80\x02](" + keys + "e."; }

std::string Stream(const std::string& dict, const std::string& keys, const std::string& storages) {
  return kMagic + kVersion + kSystem + "\x80\x02}(" + dict + "u." + Keys(keys) + storages;
}

const std::string kTwo = "\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40"s;  // count, 1.0f, 2.0f
const std::string kFour = "\4\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40"s;

class TorchLegacy : public ::testing::Test {
 protected:
  Result<Catalog> Read(const std::string& bytes) {
    return ReadFile(folder_.Write("model.pt", bytes), {});
  }
  std::string Refused(const std::string& bytes) {
    const Result<Catalog> catalog = Read(bytes);
    return catalog.ok() ? "no error" : catalog.error().name + ": " + catalog.error().message;
  }
  TempFolder folder_;
};

TEST_F(TorchLegacy, StoragesComeInTheOrderOfTheKeys) {
  const std::string dict =
      "U\x01"
      "a" +
      Tensor("9", 2) +
      "U\x01"
      "b" +
      Tensor("10", 4, kNoView, 2);
  const Result<Catalog> catalog = Read(Stream(dict,
                                              "U\x02"
                                              "10U\x01"
                                              "9",
                                              kFour + kTwo));
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  EXPECT_EQ(catalog->format, "torch legacy");
  ASSERT_EQ(catalog->entries.size(), 2u);
  EXPECT_EQ(Gather(*catalog, catalog->entries[0]), "\0\0\x80\x3f\0\0\0\x40"s);
  EXPECT_EQ(Gather(*catalog, catalog->entries[1]), "\0\0\x40\x40\0\0\x80\x40"s);
}

// torch before 0.4 kept parts of storages as storages of their own.
TEST_F(TorchLegacy, ViewsOfStorages) {
  const std::string dict =
      "U\x01"
      "a" +
      Tensor("9", 4, "(U\x01vK\x01K\x03t", 1);
  const Result<Catalog> catalog = Read(Stream(dict,
                                              "U\x01"
                                              "9",
                                              kFour));
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  EXPECT_EQ(Gather(*catalog, catalog->entries[0]), "\0\0\x40\x40\0\0\x80\x40"s);
  const std::string outside =
      "U\x01"
      "a" +
      Tensor("9", 4, "(U\x01vK\x01K\x03t", 2);
  EXPECT_THAT(Refused(Stream(outside,
                             "U\x01"
                             "9",
                             kFour)),
              HasSubstr("`a`"));
}

TEST_F(TorchLegacy, SaysWhatIsWrong) {
  const std::string dict =
      "U\x01"
      "a" +
      Tensor("9", 2);
  EXPECT_THAT(Refused(kMagic), HasSubstr("pickle of the version"));
  EXPECT_THAT(Refused(kMagic + "\x80\x02K\x07."), HasSubstr("torch-version"));
  EXPECT_THAT(Refused(kMagic + kVersion + kSystem), HasSubstr("pickle of the objects"));
  EXPECT_THAT(Refused(Stream(dict,
                             "U\x01"
                             "9",
                             kTwo.substr(0, 7))),
              HasSubstr("storage `9` should begin at byte"));
  EXPECT_THAT(Refused(Stream(dict,
                             "U\x01"
                             "9",
                             kTwo.substr(0, 15))),
              HasSubstr("storage `9` of 2 elements of 4 bytes"));
  EXPECT_THAT(Refused(Stream(dict,
                             "U\x01"
                             "9",
                             std::string(8, '\xff'))),
              HasSubstr("18446744073709551615 elements"));
  EXPECT_THAT(Refused(Stream(dict,
                             "U\x01"
                             "8",
                             kTwo)),
              HasSubstr("used by no object"));
  EXPECT_THAT(Refused(Stream(dict, "", "")), HasSubstr("which the file does not have"));
  EXPECT_THAT(Refused(Stream(dict,
                             "U\x01"
                             "9U\x01"
                             "9",
                             kTwo + kTwo)),
              HasSubstr("duplicate-record"));
  const std::string more =
      "U\x01"
      "a" +
      Tensor("9", 4);
  EXPECT_THAT(Refused(Stream(more,
                             "U\x01"
                             "9",
                             kTwo)),
              HasSubstr("should have 16 bytes"));
}

// The magic number of another pickle is not torch's.
TEST_F(TorchLegacy, IsToldByTheMagicNumber) {
  EXPECT_THAT(Refused("\x80\x02}."s), HasSubstr("not one that torch.save wrote"));
}

}  // namespace
}  // namespace rekey
