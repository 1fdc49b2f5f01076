// `rekey fmt RULES...`: the canonical layout.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "cli/job.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "grammar/format.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

Diagnostic CannotWrite(const std::string& path, int error) {
  return Error("cannot-write",
               "`" + Printable(path) + "` cannot be rewritten: " + std::strerror(error))
      .Help("the file is as it was; `rekey fmt - < FILE` prints the layout instead");
}

bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// The new text appears as a whole, with the old file's mode; links are followed.
Status Replace(const std::string& path, const std::string& text) {
  char* resolved = realpath(path.c_str(), nullptr);
  const std::string real = resolved != nullptr ? resolved : path;
  std::free(resolved);
  struct stat info;
  if (stat(real.c_str(), &info) != 0) return CannotWrite(path, errno);
  std::string temporary = real + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return CannotWrite(path, errno);
  bool good = WriteAll(descriptor, text) && fchmod(descriptor, info.st_mode & 07777) == 0 &&
              fsync(descriptor) == 0;
  int error = errno;
  close(descriptor);
  if (good && rename(temporary.c_str(), real.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return {};
  unlink(temporary.c_str());
  return CannotWrite(path, error);
}

struct Outcome {
  std::string name;
  bool changed = false;
  Diagnostics messages;
};

constexpr std::string_view kPack = "pack:";

Outcome FormatOne(const Settings& settings, const std::string& name, const LoadedRules& rules) {
  Outcome outcome{.name = name, .messages = rules.diagnostics};
  if (rules.file == nullptr || HasErrors(rules.diagnostics)) return outcome;
  const std::string text = Format(*rules.file);
  outcome.changed = text != rules.file->source->text();
  if (settings.check) return outcome;
  if (name == "-" || name == "-e") {
    std::cout << text;
  } else if (name.starts_with(kPack) && outcome.changed) {
    outcome.messages.push_back(
        Error("cannot-write", "a pack is not rewritten by its name: " + Printable(name))
            .Help("name its file, or use --check"));
  } else if (outcome.changed) {
    Status written = Replace(name, text);
    if (!written.ok()) outcome.messages.push_back(written.error());
  }
  return outcome;
}

void PrintJson(const std::vector<Outcome>& outcomes) {
  JsonText json;
  json.StartObject();
  json.Key("files");
  json.StartArray();
  for (const Outcome& outcome : outcomes) {
    json.StartObject();
    json.Field("file", outcome.name);
    json.Key("changed"), json.Truth(outcome.changed);
    json.Messages("messages", outcome.messages);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.Print();
}

}  // namespace

int RunFmt(const Settings& settings) {
  std::vector<std::string> names = settings.words;
  if (!settings.lines.empty()) names.insert(names.begin(), "-e");
  const bool prints = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "-" || name == "-e";
  });
  if (settings.json && prints && !settings.check) {
    return Fail(settings, Error("bad-option",
                                "--json and a layout that is printed do not go "
                                "together")
                              .Help("add --check, or name files"));
  }
  std::vector<Outcome> outcomes;
  int status = kYes;
  for (const std::string& name : names) {
    const bool lines = !settings.lines.empty() && &name == &names.front();
    const LoadedRules rules = lines ? LoadLines(settings) : LoadRules(name);
    Outcome outcome = FormatOne(settings, name, rules);
    // Syntax errors point into `rules`, so they are told before it goes.
    if (!settings.json) PrintAll(settings, outcome.messages);
    if (HasErrors(outcome.messages)) {
      status = kFailed;
    } else if (outcome.changed && settings.check) {
      status = std::max(status, kNo);
    }
    const bool printed = !settings.check && (name == "-" || name == "-e");
    if (outcome.changed && !printed && !settings.json && !settings.quiet &&
        !HasErrors(outcome.messages)) {
      std::cout << Printable(name) << "\n";
    }
    outcomes.push_back(std::move(outcome));
  }
  if (settings.json) PrintJson(outcomes);
  return status;
}

}  // namespace rekey::cli
