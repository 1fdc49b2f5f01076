#include "cli/help.h"

#include <algorithm>
#include <iostream>

#include "cli/report.h"
#include "engine/lints.h"
#include "engine/ops/ops.h"
#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey::cli {
namespace {

std::string Spelling(const OptionInfo& option) {
  std::string text = option.letter != 0 ? "-" + std::string(1, option.letter) + ", " : "    ";
  text += "--" + std::string(option.name);
  if (*option.value != '\0') text += " " + std::string(option.value);
  return text;
}

std::string OptionLines(const std::vector<const OptionInfo*>& options) {
  size_t width = 0;
  for (const OptionInfo* option : options) width = std::max(width, Spelling(*option).size());
  std::string text;
  for (const OptionInfo* option : options) {
    const std::string spelling = Spelling(*option);
    text += "  " + spelling + std::string(width + 2 - spelling.size(), ' ') + option->help + "\n";
  }
  return text;
}

// Roff takes a backslash, a leading dot and a minus for its own.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

}  // namespace

std::string Overview() {
  Table verbs({false, false});
  for (const VerbInfo& verb : Verbs())
    verbs.Row({std::string("  rekey ") + verb.name, verb.summary});
  return "rekey: rule files that turn one checkpoint's names, layout and sharding into "
         "another's\n\n" +
         verbs.ToString() +
         "\n"
         "  rekey keys ddp.pt\n"
         "  rekey run -e 'strip all \"module.\" \"_orig_mod.\"' ddp.pt -o clean.safetensors\n\n"
         "`rekey VERB --help` says what a verb takes, `rekey help language` how rules are "
         "written.\n"
         "Exit status: 0 yes, 1 no (a check, test or comparison failed), 2 could not run.\n";
}

std::string HelpOf(const VerbInfo& verb) {
  std::string text =
      "rekey " + std::string(verb.name) + " " + verb.arguments + "\n  " + verb.summary + "\n\n";
  if (*verb.text != '\0') text += std::string(verb.text) + "\n\n";
  text += "Options\n" + OptionLines(OptionsOf(verb)) + "\nExamples\n";
  for (const Example& example : verb.examples) {
    text += "  " + std::string(example.command) + "\n      " + example.what + "\n";
  }
  return text;
}

std::string ManualPage() {
  std::string text =
      ".TH REKEY 1 \"\" \"rekey " REKEY_VERSION "\"\n.SH NAME\nrekey \\- " +
      Roff("rule files that turn one checkpoint's names, layout and sharding into another's") +
      "\n.SH SYNOPSIS\n";
  for (const VerbInfo& verb : Verbs()) {
    text +=
        ".B rekey " + std::string(verb.name) + "\n[options] " + Roff(verb.arguments) + "\n.br\n";
  }
  text += ".SH DESCRIPTION\n" +
          Roff(
              "Every verb reads any supported format, found by content. Results go to standard "
              "output, messages and progress to standard error.") +
          "\n";
  for (const VerbInfo& verb : Verbs()) {
    text += ".SS rekey " + std::string(verb.name) + " " + Roff(verb.arguments) + "\n" +
            Roff(verb.summary) + ".\n.PP\n" + Roff(verb.text) + "\n";
    for (const char* name : verb.options) {
      text +=
          ".TP\n.B " + Roff(Spelling(FindOption(name))) + "\n" + Roff(FindOption(name).help) + "\n";
    }
    for (const Example& example : verb.examples) {
      text += ".PP\n.EX\n" + Roff(example.command) + "\n.EE\n" + Roff(example.what) + "\n";
    }
  }
  text += ".SH OPTIONS OF EVERY VERB\n";
  for (const char* name : CommonOptions()) {
    text +=
        ".TP\n.B " + Roff(Spelling(FindOption(name))) + "\n" + Roff(FindOption(name).help) + "\n";
  }
  text +=
      ".SH EXIT STATUS\n0 yes, 1 no (a check, test or comparison failed), 2 could not run.\n"
      ".SH ENVIRONMENT\n.TP\n.B REKEY_RULES\nfolders of rule packs, separated by colons\n"
      ".TP\n.B NO_COLOR\nno colour\n";
  return text;
}

std::string LanguageOnOneScreen() {
  return R"(A rule file is a list of passes. In a pass, edits change every key; then the first rule that fits a
key claims it; `else` says what happens to the rest; prefix and suffix edit what is left. `then`
starts the next pass. Patterns match the whole key. Nothing depends on the order of keys.

edits     strip "module."                  once, from the front
          strip all "module." "_orig_mod."  any of them, until none is left
          strip anywhere "_orig_mod."      whole segments, wherever they stand
          strip suffix ":0"                from the end
          rename self_attn -> attention    whole segments, wherever they stand
rules     map layers.{i:int}.{r:any} -> blocks.{i + 1}.{r}
          map /conv_(\d+)\/kernel:0/ -> conv\1.weight | permute(3, 2, 0, 1)
          keep head.{_:any}                claims it unchanged
          drop {_:any}.num_batches_tracked
          drop lm_head.weight same as embed.weight
          merge tp{t:int}.qkv.weight -> qkv.weight by t | cat(0)
          split qkv -> [q, k, v] | chunk(0)
          in encoder. -> model.encoder. { ... }     the same text before every pattern and target
          verb?                            may match nothing
the rest  else pass | else drop | else error "why"
          prefix "model."    suffix ".weight"    then "second pass"
holes     {x} one segment   {x:int} digits   {x:any} anything   {x:a|b} words   {x:table}   {_} unnamed
targets   {x}  \1  {i + 1}  {i:03}  {table(x)}  {dots(x)}  {slashes(x)}
guards    if rank == 4 and dtype == f32 and dim(0) > 1 and i >= 5 and not has(other.key)
names     param n: int = meta("args.num_layers")   let d = hidden / heads
          table norm { gamma = weight, beta = bias }   require heads % kv == 0, "why"
files     source mp_rank_{t:int}/model.pt -> tp{t}.    select model_state_dict    include "pack:..."
outputs   fill K = zeros(4) as f32    copy A -> B    tie A = B
checks    expect K : bf16[n, 4] for i in 0..n    expect no P    expect count 12
tests     test "..." { given K = [1, 2]    expect K = [2, 1]    key => other    key => dropped }

An edit claims nothing. First match wins. `{p}` is one segment; `{p:any}` is more.
)";
}

std::string OperationTable() {
  std::string text;
  for (const OpInfo& op : Ops()) {
    text += std::string(op.signature) + "\n    " + op.doc + "\n    inverse: " + op.inverse + "\n";
  }
  return text;
}

std::string LintTable() {
  Table table({false, false});
  for (const Lint& lint : kLints) table.Row({std::string(lint.name), std::string(lint.what)});
  return table.ToString();
}

int RunHelp(const Settings& settings) {
  if (settings.man) {
    std::cout << ManualPage();
    return kYes;
  }
  if (settings.words.empty()) {
    std::cout << Overview();
    return kYes;
  }
  const std::string& topic = settings.words[0];
  if (const VerbInfo* verb = FindVerb(topic)) {
    std::cout << HelpOf(*verb);
  } else if (topic == "language") {
    std::cout << LanguageOnOneScreen();
  } else if (topic == "ops") {
    std::cout << OperationTable();
  } else if (topic == "lints") {
    std::cout << LintTable();
  } else {
    Diagnostic error = Error("unknown-topic", "there is no help on `" + Printable(topic) + "`");
    std::vector<std::string_view> names = {"language", "ops", "lints"};
    for (const VerbInfo& verb : Verbs()) names.push_back(verb.name);
    for (std::string_view near : Nearest(topic, names)) {
      error.Help("did you mean `rekey help " + std::string(near) + "`?");
    }
    error.Help("topics are the verbs, `language`, `ops` and `lints`");
    return Fail(settings, error);
  }
  return kYes;
}

}  // namespace rekey::cli
