// Files for tests: fixtures of tests/data by name, and a folder that is gone when the test is over.
//
//   TempFolder folder;
//   std::string path = folder.Write("a/model.safetensors", bytes);
#ifndef REKEY_TESTS_SUPPORT_FILES_H_
#define REKEY_TESTS_SUPPORT_FILES_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace rekey {

// A file or folder below tests/data.
inline std::string DataPath(const std::string& name) {
  return std::string(REKEY_SOURCE_DIR) + "/tests/data/" + name;
}

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rekey_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
    EXPECT_FALSE(path_.empty()) << "cannot make a temporary folder";
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // Writes the file, and the folders above it; gives its path.
  std::string Write(const std::string& name, std::string_view bytes) const {
    const std::string path = Path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    EXPECT_TRUE(file.good()) << path;
    return path;
  }

 private:
  std::string path_;
};

}  // namespace rekey

#endif  // REKEY_TESTS_SUPPORT_FILES_H_
