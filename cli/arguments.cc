#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <charconv>

#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey::cli {
namespace {

std::string Names(const OptionInfo& option) {
  std::string names = "--" + std::string(option.name);
  if (option.letter != 0) names = "-" + std::string(1, option.letter) + "," + names;
  return names;
}

// CLI11's exceptions carry what went wrong to ParseArguments.
[[noreturn]] void BadValue(const std::string& what) { throw CLI::ValidationError("", what); }

void ReadNumber(const OptionInfo& option, const std::string& text, int* number) {
  const char* end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data(), end, *number);
  if (fault == std::errc() && at == end && *number > 0) return;
  BadValue("--" + std::string(option.name) + " takes a number from 1, not `" + Printable(text) +
           "`");
}

void ReadWord(const OptionInfo& option, const std::string& text, std::string* word) {
  *word = text;
  if (option.choices.empty()) return;
  std::string all;
  for (const char* choice : option.choices) {
    if (text == choice) return;
    all += (all.empty() ? "" : ", ") + std::string(choice);
  }
  BadValue("--" + std::string(option.name) + " is one of " + all + ", not `" + Printable(text) +
           "`");
}

void Declare(const OptionInfo& option, Settings* settings, CLI::App* app) {
  std::visit(
      [&](auto member) {
        auto* place = &(settings->*member);
        using Member = std::remove_reference_t<decltype(*place)>;
        if constexpr (std::is_same_v<Member, bool>) {
          app->add_flag(Names(option), *place);
        } else if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
          // One value each time, so that words after it stay words.
          app->add_option(Names(option), *place)
              ->expected(1)
              ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
              ->allow_extra_args(false);
        } else {
          app->add_option_function<std::string>(Names(option),
                                                [&option, place](const std::string& text) {
                                                  if constexpr (std::is_same_v<Member, int>) {
                                                    ReadNumber(option, text, place);
                                                  } else {
                                                    ReadWord(option, text, place);
                                                  }
                                                })
              ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        }
      },
      option.member);
}

std::string HelpHint(const VerbInfo& verb) {
  return "`rekey " + std::string(verb.name) + " --help` lists what it takes";
}

Diagnostic UnknownOption(const VerbInfo& verb, const std::string& written) {
  Diagnostic error = Error("unknown-option", "`rekey " + std::string(verb.name) +
                                                 "` has no option `" + Printable(written) + "`");
  std::vector<std::string> names;
  for (const OptionInfo* option : OptionsOf(verb))
    names.push_back("--" + std::string(option->name));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string bare = written.substr(0, written.find('='));
  for (std::string_view near : Nearest(bare, views)) {
    error.Help("did you mean `" + std::string(near) + "`?");
  }
  error.Help(HelpHint(verb));
  return error;
}

Status CheckWords(const VerbInfo& verb, const Settings& settings) {
  const size_t rules = verb.takes_rules && settings.lines.empty() ? 1 : 0;
  const size_t words = settings.words.size();
  if (words >= verb.min_words + rules && words <= verb.max_words + rules) return {};
  const bool few = words < verb.min_words + rules;
  Diagnostic error =
      Error(few ? "missing-argument" : "extra-argument",
            "`rekey " + std::string(verb.name) + "` takes " + verb.arguments +
                (few ? "; something is missing"
                     : "; `" + Printable(settings.words.back()) + "` is one word too many"));
  if (verb.takes_rules) error.Note("RULES is a file, pack:NAME@VERSION, `-`, or left out after -e");
  error.Help(HelpHint(verb));
  return error;
}

// True if the next argument is this one's value: `-p`, `--param`, but not `--param=n=1` or `-pn=1`.
bool TakesNext(std::string_view word) {
  for (const OptionInfo& option : Options()) {
    if (*option.value == '\0') continue;
    if (word == "--" + std::string(option.name)) return true;
    if (option.letter != 0 && word == std::string{'-', option.letter}) return true;
  }
  return false;
}

}  // namespace

int VerbPosition(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.size() < 2 || word[0] != '-') return i;
    if (TakesNext(word)) ++i;
  }
  return argc;
}

Result<Arguments> ParseArguments(const VerbInfo& verb, int verb_position, int argc, char** argv) {
  Arguments arguments;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", arguments.help);
  for (const OptionInfo* option : OptionsOf(verb)) Declare(*option, &arguments.settings, &app);
  // CLI11 takes its arguments reversed.
  std::vector<std::string> reversed;
  for (int i = argc - 1; i >= 1; --i) {
    if (i != verb_position) reversed.emplace_back(argv[i]);
  }
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string what = e.what();  // "--depth: 1 required ..."
    return Error("bad-option", "`" + what.substr(0, what.find(':')) + "` needs a value")
        .Help(HelpHint(verb));
  } catch (const CLI::ParseError& e) {
    std::string what = e.what();
    if (what.starts_with(": ")) what.erase(0, 2);
    return Error("bad-option", what).Help(HelpHint(verb));
  }
  if (arguments.help || arguments.settings.version) return arguments;
  bool words_only = false;
  for (const std::string& word : app.remaining(true)) {
    if (!words_only && word == "--") {
      words_only = true;
    } else if (!words_only && word.size() > 1 && word[0] == '-') {
      return UnknownOption(verb, word);
    } else {
      arguments.settings.words.push_back(word);
    }
  }
  if (arguments.settings.threads > 256) {
    return Error("bad-option", "--threads " + std::to_string(arguments.settings.threads) +
                                   ": the number of threads is from 1 to 256");
  }
  Status words = CheckWords(verb, arguments.settings);
  if (!words.ok()) return std::move(words).error();
  return arguments;
}

}  // namespace rekey::cli
