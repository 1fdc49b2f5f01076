// Completion scripts, made from the tables of verbs and options.
#include <iostream>

#include "cli/help.h"
#include "cli/report.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

std::string LongNames(const VerbInfo& verb) {
  std::string names = "--help";
  for (const OptionInfo* option : OptionsOf(verb)) names += " --" + std::string(option->name);
  return names;
}

std::string VerbNames() {
  std::string names;
  for (const VerbInfo& verb : Verbs()) names += (names.empty() ? "" : " ") + std::string(verb.name);
  return names;
}

// A text inside single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string Bash() {
  std::string text =
      "_rekey() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"" +
      VerbNames() +
      " --version --help\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $before in\n";
  for (const OptionInfo& option : Options()) {
    if (option.choices.empty()) continue;
    text += "    --" + std::string(option.name) + ") COMPREPLY=($(compgen -W \"";
    for (const char* choice : option.choices) text += std::string(choice) + " ";
    text += "\" -- \"$word\")); return ;;\n";
  }
  text +=
      "  esac\n  case $word in -*) ;; *) COMPREPLY=($(compgen -f -- \"$word\")); return ;; esac\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const VerbInfo& verb : Verbs()) {
    text += "    " + std::string(verb.name) + ") COMPREPLY=($(compgen -W \"" + LongNames(verb) +
            "\" -- \"$word\")) ;;\n";
  }
  return text + "  esac\n}\ncomplete -o filenames -F _rekey rekey\n";
}

std::string Zsh() {
  std::string text =
      "#compdef rekey\n_rekey() {\n  if (( CURRENT == 2 )); then\n    local -a verbs\n"
      "    verbs=(\n";
  for (const VerbInfo& verb : Verbs()) {
    text += "      " + Quoted(std::string(verb.name) + ":" + verb.summary) + "\n";
  }
  text += "    )\n    _describe verb verbs\n    return\n  fi\n  case $words[2] in\n";
  for (const VerbInfo& verb : Verbs()) {
    text += "    " + std::string(verb.name) + ")\n      _arguments";
    for (const OptionInfo* option : OptionsOf(verb)) {
      std::string help = option->help;
      for (size_t at = 0; (at = help.find_first_of("[]:", at)) != std::string::npos; at += 2) {
        help.insert(at, "\\");
      }
      std::string spec = "--" + std::string(option->name) + "[" + help + "]";
      if (*option->value != '\0') {
        spec += ":" + std::string(option->value) + ":";
        if (option->choices.empty()) {
          spec += "_files";
        } else {
          spec += "(";
          for (const char* choice : option->choices) spec += std::string(choice) + " ";
          spec.back() = ')';
        }
      }
      text += " \\\n        " + Quoted(spec);
    }
    text += " \\\n        '*:file:_files' ;;\n";
  }
  return text + "  esac\n}\n_rekey \"$@\"\n";
}

std::string Fish() {
  std::string text;
  for (const VerbInfo& verb : Verbs()) {
    text += "complete -c rekey -n __fish_use_subcommand -f -a " + std::string(verb.name) + " -d " +
            Quoted(verb.summary) + "\n";
    for (const OptionInfo* option : OptionsOf(verb)) {
      text += "complete -c rekey -n '__fish_seen_subcommand_from " + std::string(verb.name) +
              "' -l " + option->name;
      if (option->letter != 0) text += " -s " + std::string(1, option->letter);
      if (*option->value != '\0') text += option->choices.empty() ? " -r" : " -x";
      if (!option->choices.empty()) {
        std::string choices;
        for (const char* choice : option->choices) choices += std::string(choice) + " ";
        text += " -a " + Quoted(choices);
      }
      text += " -d " + Quoted(option->help) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(std::string_view shell) {
  if (shell == "bash") return Bash();
  if (shell == "zsh") return Zsh();
  if (shell == "fish") return Fish();
  return "";
}

int RunCompletions(const Settings& settings) {
  const std::string script = CompletionScript(settings.words[0]);
  if (script.empty()) {
    return Fail(settings, Error("unknown-shell", "there is no completion script for `" +
                                                     Printable(settings.words[0]) + "`")
                              .Help("write bash, zsh or fish"));
  }
  std::cout << script;
  return kYes;
}

}  // namespace rekey::cli
