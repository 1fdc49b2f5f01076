#include "engine/folder.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "engine/file.h"
#include "engine/formats/format.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes a run of digits off the front, without its leading zeros.
std::string_view TakeDigits(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

bool IsHidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

Diagnostic CannotRead(const std::string& folder, const std::error_code& code) {
  return Error("unreadable-folder", "cannot read the folder `" + folder + "`: " + code.message())
      .Help("check its permissions");
}

// The text of a file that names a checkpoint, without the blanks around it; nothing if there is no
// such file or it is something else.
std::optional<std::string> ReadTracker(const std::string& path) {
  constexpr uint64_t kLongest = 4096;
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return std::nullopt;
  Result<InputFile> file = InputFile::Open(path);
  if (!file.ok() || file->size() > kLongest || IsCheckpoint(*file)) return std::nullopt;
  Result<std::string> text = file->ReadText(0, file->size());
  if (!text.ok()) return std::nullopt;
  const size_t begin = text->find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return std::string();
  return text->substr(begin, text->find_last_not_of(" \t\r\n") + 1 - begin);
}

// "5000" is `iter_0005000`.
std::optional<std::string> MegatronFolder(const std::string& text) {
  if (text == "release") return text;
  if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), IsDigit)) {
    return std::nullopt;
  }
  char name[32];
  std::snprintf(name, sizeof name, "iter_%07lld", std::stoll(text));
  return name;
}

Result<std::optional<std::string>> Follow(const std::string& folder, const std::string& tracker,
                                          const std::string& name) {
  const std::string thing = "`" + JoinPath(folder, tracker) + "`";
  if (const std::optional<std::string> wrong = LeavesFolder(name)) {
    return Error("bad-path", thing + " names `" + name + "`: " + *wrong)
        .Help("name the checkpoint itself");
  }
  std::string path = JoinPath(folder, name);
  std::error_code code;
  if (fs::exists(path, code)) return std::optional<std::string>(std::move(path));
  Diagnostic error = Error("missing-file", thing + " names `" + name + "`, which is not there");
  const std::vector<std::string> folders = ListFolders(folder);
  for (std::string_view near :
       Nearest(name, std::vector<std::string_view>(folders.begin(), folders.end()))) {
    error.Help("did you mean `" + JoinPath(folder, near) + "`?");
  }
  return error;
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a.front()) && IsDigit(b.front())) {
      const std::string_view x = TakeDigits(a), y = TakeDigits(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front()) {
        return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
      }
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // 01 and 1
}

Result<std::vector<std::string>> ListFiles(const std::string& folder, Depth depth) {
  std::vector<std::string> names;
  std::error_code code;
  fs::recursive_directory_iterator it(folder, code);
  for (; !code && it != fs::recursive_directory_iterator(); it.increment(code)) {
    std::error_code ignored;  // a link to nothing is no file
    if (depth == Depth::kTop || IsHidden(it->path())) it.disable_recursion_pending();
    if (!IsHidden(it->path()) && it->is_regular_file(ignored)) {
      names.push_back(it->path().lexically_relative(folder).generic_string());
    }
  }
  if (code) return CannotRead(folder, code);
  std::sort(names.begin(), names.end(), NaturalLess);
  return names;
}

std::vector<std::string> ListFolders(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  fs::directory_iterator it(folder, code);
  for (; !code && it != fs::directory_iterator(); it.increment(code)) {
    std::error_code ignored;
    if (!IsHidden(it->path()) && it->is_directory(ignored)) {
      names.push_back(it->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end(), NaturalLess);
  return names;
}

std::string JoinPath(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

std::optional<std::string> LeavesFolder(std::string_view name) {
  if (name.empty()) return "a file's name cannot be empty";
  if (name.find('\0') != std::string_view::npos) return "a file's name cannot hold a NUL byte";
  if (name.front() == '/' || name.front() == '\\') {
    return "an absolute path may not stand there, only a name in the same folder";
  }
  if (name.size() > 1 && name[1] == ':' && std::isalpha(static_cast<unsigned char>(name[0]))) {
    return "a path on a drive may not stand there, only a name in the same folder";
  }
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find_first_of("/\\", begin), name.size());
    if (name.substr(begin, end - begin) == "..") {
      return "a path may not lead out of the folder with `..`";
    }
    begin = end + 1;
  }
  return std::nullopt;
}

Result<std::optional<std::string>> NewestCheckpoint(const std::string& folder) {
  constexpr const char* kMegatron = "latest_checkpointed_iteration.txt";
  constexpr const char* kDeepSpeed = "latest";
  if (const std::optional<std::string> text = ReadTracker(JoinPath(folder, kMegatron))) {
    const std::optional<std::string> name = MegatronFolder(*text);
    if (name) return Follow(folder, kMegatron, *name);
    return Error("bad-path", "`" + JoinPath(folder, kMegatron) + "` holds `" + *text +
                                 "`, neither an iteration's number nor `release`")
        .Help("name the iteration's folder itself");
  }
  if (const std::optional<std::string> text = ReadTracker(JoinPath(folder, kDeepSpeed))) {
    return Follow(folder, kDeepSpeed, *text);
  }
  return std::optional<std::string>();
}

}  // namespace rekey
