// The zip directory: archives of Python's zipfile and torch, and broken ones byte by byte.
#include "engine/formats/zip_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/formats/format.h"
#include "tests/support/files.h"
#include "tests/support/gather.h"
#include "tests/support/python.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Number(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// A zip put together by hand, every field open to change.
struct Record {
  std::string name;
  std::string bytes;
  uint16_t method = 0;
  uint64_t size = 0;  // when unpacked; that of `bytes` unless set
  uint16_t flags = 0;
  std::string local_extra;
};

std::string Local(const Record& record) {
  return "PK\x03\x04" + Number(20, 2) + Number(record.flags, 2) + Number(record.method, 2) +
         Number(0, 4) + Number(0, 12) + Number(record.name.size(), 2) +
         Number(record.local_extra.size(), 2) + record.name + record.local_extra + record.bytes;
}

std::string Central(const Record& record, uint64_t header) {
  const uint64_t size = record.size != 0 ? record.size : record.bytes.size();
  return "PK\x01\x02" + Number(20, 2) + Number(20, 2) + Number(record.flags, 2) +
         Number(record.method, 2) + Number(0, 4) + Number(0x1234, 4) +
         Number(record.bytes.size(), 4) + Number(size, 4) + Number(record.name.size(), 2) +
         Number(0, 2) + Number(0, 2) + Number(0, 8) + Number(header, 4) + record.name;
}

std::string EndRecord(uint64_t count, uint64_t bytes, uint64_t offset) {
  return "PK\x05\x06" + Number(0, 4) + Number(count, 2) + Number(count, 2) + Number(bytes, 4) +
         Number(offset, 4) + Number(0, 2);
}

std::string Zip(const std::vector<Record>& records) {
  std::string data;
  std::string directory;
  for (const Record& record : records) {
    directory += Central(record, data.size());
    data += Local(record);
  }
  return data + directory + EndRecord(records.size(), directory.size(), data.size());
}

class ZipDirectoryTest : public ::testing::Test {
 protected:
  InputFile Open(const std::string& bytes) {
    Result<InputFile> file = InputFile::Open(folder_.Write("a.zip", bytes));
    EXPECT_TRUE(file.ok());
    return std::move(*file);
  }
  // The name and message of the error for these bytes.
  std::string Refused(const std::string& bytes) {
    const Result<ZipDirectory> zip = ReadZipDirectory(Open(bytes));
    return zip.ok() ? "no error" : zip.error().name + ": " + zip.error().message;
  }
  TempFolder folder_;
};

TEST_F(ZipDirectoryTest, FindsRecordsBehindTheirHeaders) {
  const InputFile file = Open(Zip({{.name = "r/a", .bytes = "first"},
                                   {.name = "r/b", .bytes = "second", .local_extra = "padding"}}));
  const Result<ZipDirectory> zip = ReadZipDirectory(file);
  ASSERT_TRUE(zip.ok()) << zip.error().message;
  ASSERT_EQ(zip->records().size(), 2u);
  EXPECT_EQ(zip->records()[0].crc32, 0x1234u);
  EXPECT_EQ(zip->Find("r/c"), nullptr);
  const ZipRecord* second = zip->Find("r/b");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*ReadZipRecord(file, *second, 6), "second");
  EXPECT_FALSE(ReadZipRecord(file, *second, 5).ok());
  EXPECT_EQ(*FindZipData(file, *second), 38 + 33 + 7u);
}

TEST_F(ZipDirectoryTest, TakesAnEmptyArchiveAndBytesBehindTheEnd) {
  EXPECT_TRUE(ReadZipDirectory(Open(Zip({}))).ok());
  EXPECT_TRUE(ReadZipDirectory(Open(Zip({{.name = "a", .bytes = "x"}}) + "junk")).ok());
}

TEST_F(ZipDirectoryTest, RefusesWhatDoesNotFit) {
  const std::string good = Zip({{.name = "r/a", .bytes = "first"}});
  const size_t directory = good.find("PK\x01\x02");
  const size_t end = good.find("PK\x05\x06");
  const auto with = [&](size_t at, const std::string& bytes) {
    std::string changed = good;
    return changed.replace(at, bytes.size(), bytes);
  };
  EXPECT_THAT(Refused(good.substr(0, end)), HasSubstr("truncated-zip"));
  EXPECT_THAT(Refused(""), HasSubstr("truncated-zip"));
  EXPECT_THAT(Refused(with(end + 4, Number(1, 2))), HasSubstr("several parts"));
  EXPECT_THAT(Refused(with(end + 8, Number(2, 2) + Number(2, 2))),
              HasSubstr("2 records do not fit"));
  EXPECT_THAT(Refused(with(end + 8, Number(0, 2) + Number(0, 2))), HasSubstr("bytes follow"));
  EXPECT_THAT(Refused(with(end + 12, Number(0xfffffff0, 4))), HasSubstr("should take"));
  EXPECT_THAT(Refused(with(end + 16, Number(0xfffffff0, 4))), HasSubstr("should take"));
  EXPECT_THAT(Refused("x" + good), HasSubstr("does not begin"));
  EXPECT_THAT(Refused(with(directory, "PK\x01\x03")), HasSubstr("does not begin"));
  EXPECT_THAT(Refused(with(directory + 28, Number(900, 2))), HasSubstr("cut short"));
  EXPECT_THAT(Refused(with(directory + 8, Number(1, 2))), HasSubstr("encrypted-zip"));
  EXPECT_THAT(Refused(with(directory + 20, Number(1000, 4))), HasSubstr("reaches into"));
  EXPECT_THAT(Refused(with(directory + 42, Number(1000, 4))), HasSubstr("reaches into"));
  EXPECT_THAT(Refused(with(directory + 24, Number(6, 4))), HasSubstr("is stored in 5"));
  EXPECT_THAT(Refused(with(directory + 24, Number(0xffffffff, 4))), HasSubstr("ZIP64 sizes"));
  EXPECT_THAT(Refused(with(directory + 46, "r\xff")), HasSubstr("not UTF-8"));
  EXPECT_THAT(Refused(Zip({{.name = "a", .bytes = "x"}, {.name = "a", .bytes = "y"}})),
              HasSubstr("duplicate-record"));
}

TEST_F(ZipDirectoryTest, RecordsThatLie) {
  const auto read = [&](const std::string& bytes) {
    const InputFile file = Open(bytes);
    const Result<ZipDirectory> zip = ReadZipDirectory(file);
    if (!zip.ok()) return "directory: " + zip.error().message;
    const Result<std::string> record = ReadZipRecord(file, zip->records()[0], 1 << 20);
    return record.ok() ? *record : record.error().message;
  };
  // Stored blocks of deflate: one final block of three bytes.
  const std::string deflated = "\x01" + Number(3, 2) + Number(0xfffc, 2) + "abc";
  const Record good = {.name = "r", .bytes = deflated, .method = 8, .size = 3};
  EXPECT_EQ(read(Zip({good})), "abc");
  Record bad = good;
  bad.size = 4;
  EXPECT_THAT(read(Zip({bad})), HasSubstr("does not unpack"));
  bad.size = 2;
  EXPECT_THAT(read(Zip({bad})), HasSubstr("does not unpack"));
  bad = good;
  bad.bytes.pop_back();
  EXPECT_THAT(read(Zip({bad})), HasSubstr("does not unpack"));
  bad = good;
  bad.size = 900000;
  EXPECT_THAT(read(Zip({bad})), HasSubstr("cannot unpack"));
  bad = good;
  bad.method = 12;
  EXPECT_THAT(read(Zip({bad})), HasSubstr("method 12"));
  std::string moved = Zip({good});
  moved[2] = 'x';
  EXPECT_THAT(read(moved), HasSubstr("no record begins"));
}

// torch writes ZIP64 records beyond 4 GiB: sizes of ones, an extra field with the true ones.
TEST(Zip64, TorchPastFourGigabytes) {
  TempFolder folder;
  const std::string path = folder.Path("big.pt");
  RunPython("tests/support/write_zip64.py", {path});
  const Result<Catalog> catalog = ReadFile(path, {});
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  std::vector<std::string> keys;
  for (const Entry& entry : catalog->entries) keys.emplace_back(entry.key);
  ASSERT_THAT(keys, ElementsAre("big", "after", "tail"));
  EXPECT_EQ(catalog->storages[0].bytes, (uint64_t{4} << 30) + 1000);
  EXPECT_GT(catalog->storages[1].offset, uint64_t{4} << 30);
  EXPECT_EQ(Gather(*catalog, catalog->entries[1]), std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  // The last three bytes of the hole, read apart: Gather would read all four gigabytes.
  const Entry& tail = catalog->entries[2];
  EXPECT_EQ(tail.start, (uint64_t{4} << 30) + 997);
  const Result<InputFile> file = InputFile::Open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*file->ReadText(catalog->storages[0].offset + tail.start, 3), std::string("\0\0\7", 3));
}

}  // namespace
}  // namespace rekey
