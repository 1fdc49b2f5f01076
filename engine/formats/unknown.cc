#include "engine/formats/unknown.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace rekey {
namespace {

using namespace std::string_view_literals;

// Formats with a mark of their own that a user may well try.
struct Mark {
  size_t offset;
  std::string_view bytes;
  const char* what;
  const char* help;
};

constexpr const char* kUnpack = "unpack it first";
constexpr const char* kConvert = "rekey does not read it; save it as safetensors first";

constexpr Mark kMarks[] = {
    {0, "\x1f\x8b"sv, "compressed with gzip", kUnpack},
    {0, "\x28\xb5\x2f\xfd"sv, "compressed with zstd", kUnpack},
    {0, "\xfd\x37zXZ\0"sv, "compressed with xz", kUnpack},
    {0, "BZh"sv, "compressed with bzip2", kUnpack},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive", kUnpack},
    {0, "Rar!"sv, "a RAR archive", kUnpack},
    {257, "ustar"sv, "a tar archive", kUnpack},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras writes them)", kConvert},
    {0, "\x93NUMPY"sv, "a NumPy array", kConvert},
    {0, "GGUF"sv, "a GGUF file", kConvert},
};

bool HasMark(std::string_view head, const Mark& mark) {
  return head.size() >= mark.offset && head.substr(mark.offset).starts_with(mark.bytes);
}

std::string_view FirstLine(std::string_view text) {
  text = text.substr(0, 80);
  return text.substr(0, text.find_first_of("\r\n"));
}

bool IsText(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](unsigned char c) {
    return c >= 0x80 || std::isprint(c) || std::isspace(c);
  });
}

Diagnostic GitLfsPointer(const std::string& name, uint64_t bytes, std::string_view head) {
  Diagnostic error =
      Error("git-lfs-pointer", name + " is a git-lfs pointer of " + std::to_string(bytes) +
                                   " bytes, not the file itself");
  const size_t size = head.find("\nsize ");
  if (size != std::string_view::npos) {
    error.Note("the file itself has " + std::string(FirstLine(head.substr(size + 6))) + " bytes");
  }
  return error.Help("fetch it: `git lfs pull` in the repository that it comes from");
}

Diagnostic Zip(const InputFile& file, const std::string& name) {
  constexpr uint64_t kTail = (uint64_t{1} << 16) + 22;  // the end record and the longest comment
  const uint64_t tail = std::min(file.size(), kTail);
  const Result<std::string> end = file.ReadText(file.size() - tail, tail);
  if (!end.ok()) return end.error();
  if (end->find("PK\x05\x06") == std::string::npos) {
    return Error("truncated-zip", name +
                                      " begins as a zip archive, but the record at its end is "
                                      "missing: it is cut short")
        .Help("download or copy it again");
  }
  return Error("not-a-checkpoint", name + " is a zip archive, but not one that torch.save wrote")
      .Help("if checkpoints are packed in it, unpack it first");
}

// torch before 0.1.10 wrote a tar of these members.
bool IsTorchTar(std::string_view head) {
  for (std::string_view member : {"sys_info\0"sv, "pickle\0"sv, "storages\0"sv, "tensors\0"sv}) {
    if (head.starts_with(member) && head.size() > 262 && head.substr(257, 5) == "ustar") {
      return true;
    }
  }
  return false;
}

Diagnostic Text(const std::string& name, std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return Error("not-a-checkpoint", name + " holds only blanks, no checkpoint");
  }
  head = head.substr(begin);
  if (head.front() == '<') {
    return Error("not-a-checkpoint", name + " is a web page (HTML or XML), not a checkpoint")
        .Note("it begins: " + std::string(FirstLine(head)))
        .Help("the download was answered by a page, for a login or an error: download it again");
  }
  const char* what = head.front() == '{' || head.front() == '[' ? " is JSON text" : " is text";
  return Error("not-a-checkpoint", name + what + ", not a checkpoint")
      .Note("it begins: " + std::string(FirstLine(head)))
      .Help("name the checkpoint, its index (*.index.json) or its folder");
}

}  // namespace

Diagnostic UnknownFile(const InputFile& file) {
  const std::string name = "`" + file.info().path + "`";
  if (file.size() == 0) {
    return Error("empty-file", name + " is empty").Help("download or copy it again");
  }
  const Result<std::string> read = file.ReadText(0, std::min<uint64_t>(file.size(), 1024));
  if (!read.ok()) return read.error();
  const std::string_view head = *read;
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    return GitLfsPointer(name, file.size(), head);
  }
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return Zip(file, name);
  if (IsTorchTar(head)) {
    return Error("torch-tar", name +
                                  " is in the tar form of torch before 0.1.10, which rekey does "
                                  "not read")
        .Help("load it with torch and save it again");
  }
  for (const Mark& mark : kMarks) {
    if (HasMark(head, mark)) {
      return Error("not-a-checkpoint", name + " is " + mark.what).Help(mark.help);
    }
  }
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return Error("not-a-checkpoint", name + " begins with nothing but zeros")
        .Help("a download or copy of it was not finished: do it again");
  }
  if (head.starts_with('\x80')) {
    return Error("not-a-checkpoint",
                 name + " is a Python pickle, but not one that torch.save wrote")
        .Help("load it in Python and save its tensors with torch or safetensors");
  }
  if (IsText(head)) return Text(name, head);
  return Error("not-a-checkpoint", name + " is in no format that rekey reads")
      .Help("formats are told by content, not by name: is it the right file, and is it whole?");
}

}  // namespace rekey
