#include "cli/verbs.h"

namespace rekey::cli {

const std::vector<VerbInfo>& Verbs() {
  static const std::vector<VerbInfo> kVerbs = {
      {"keys",
       "IN",
       "what is in a checkpoint: key, dtype, shape, bytes",
       "Lists the tensors of a checkpoint - a file, a sharded checkpoint's index.json or a folder "
       "-\n"
       "in file order, from its headers alone. The last line counts keys, parameters and bytes "
       "and\n"
       "says which format was found and which entry was taken as the state_dict.",
       1,
       1,
       false,
       {"select", "tree", "depth", "pattern", "filter", "envelope"},
       {{"rekey keys model.pt --pattern", "one line a family of keys, layer numbers folded"},
        {"rekey keys model.safetensors --filter 'layers.{i:int}.attn.{_:any}'", "some of them"}},
       RunKeys},
      {"check",
       "RULES [IN]",
       "is a rule file right, and does it cover a checkpoint",
       "Parses, lints and compiles the rules. With IN it makes the whole plan as well and "
       "reports,\n"
       "rule by rule, what each claimed. Exit status 1 if an `expect` fails or nothing is "
       "remapped,\n"
       "2 if the rules or the plan have another error.",
       0,
       1,
       true,
       {"expression", "param", "params", "select", "strict", "allow"},
       {{"rekey check rules.rekey", "the file alone"},
        {"rekey check rules.rekey model.pt", "and what each rule claims of model.pt"}},
       RunCheck},
      {"plan",
       "RULES IN",
       "every output: key, dtype, shape, where its bytes come from, how",
       "Prints what `run` would do, from headers alone: each output key with its type, its "
       "sources\n"
       "and its recipe (copy, move or compute), then what is dropped and what passes.",
       1,
       1,
       true,
       {"expression", "param", "params", "select", "strict", "allow"},
       {{"rekey plan rules.rekey model.pt", "the outputs"},
        {"rekey plan rules.rekey model.pt --json", "for programs"}},
       RunPlan},
      {"run",
       "RULES IN -o OUT",
       "remap a checkpoint",
       "Applies the rules to IN and writes OUT. The extension of OUT picks the format\n"
       "(.safetensors, or .pt .pth .bin .ckpt for torch). A folder, or --max-shard-size, gives\n"
       "shards with the index that Hugging Face tools expect. Nothing is written unless the whole\n"
       "plan is clean, and OUT appears only when it is complete.",
       1,
       1,
       true,
       {"output", "expression", "param", "params", "select", "strict", "allow", "force", "to",
        "dry-run", "stamp", "ties", "max-shard-size", "threads", "progress", "verbose"},
       {{"rekey run clean.rekey epoch_12.pt -o model.safetensors", "by a rule file"},
        {"rekey run -e 'strip all \"module.\" \"_orig_mod.\"' ddp.pt -o clean.pt", "by one line"}},
       RunRun},
      {"explain",
       "RULES IN KEY",
       "the story of one key: each edit, the rule that claimed it, rules that would have",
       "KEY is a key of the checkpoint or one of the output.",
       2,
       2,
       true,
       {"expression", "param", "params", "select", "strict", "allow"},
       {{"rekey explain rules.rekey model.pt module.fc.weight", "where a key of model.pt goes"},
        {"rekey explain rules.rekey model.pt fc.weight", "where an output key comes from"}},
       RunExplain},
      {"test",
       "RULES...",
       "run the test blocks of rule files",
       "Runs every `test` block. Exit status 1 if one fails, or if --coverage finds a rule that "
       "no\n"
       "test reaches.",
       0,
       1000000,
       true,
       {"expression", "param", "params", "coverage", "verbose"},
       {{"rekey test rules/*.rekey", "all tests of some files"},
        {"rekey test --coverage pack:common/unwrap@1", "and the rules that no test reaches"}},
       RunTest},
      {"fmt",
       "RULES...",
       "bring rule files into the canonical layout",
       "Rewrites the files in place and names those that changed; `-` reads standard input and "
       "prints.\n"
       "With --check nothing is written, the files that would change are named, and the exit "
       "status\n"
       "is 1 if there are any.",
       0,
       1000000,
       true,
       {"expression", "check"},
       {{"rekey fmt rules.rekey", "in place"},
        {"rekey fmt --check rules/*.rekey", "for a pre-commit hook"}},
       RunFmt},
      {"packs",
       "[NAME]",
       "the rule packs at hand, their versions and what they are for",
       "With a name, that pack's parameters and what it was tested against.",
       0,
       1,
       false,
       {},
       {{"rekey packs", "all of them"}, {"rekey packs common/unwrap", "one"}},
       RunPacks},
      {"help",
       "[TOPIC]",
       "help on a verb, the language on one screen, the operations, the lints",
       "TOPIC is a verb, `language`, `ops` or `lints`.",
       0,
       1,
       false,
       {"man"},
       {{"rekey help language", "the rule language on one screen"},
        {"rekey help --man", "the manual page as roff"}},
       RunHelp},
      {"completions",
       "SHELL",
       "completion script for bash, zsh or fish",
       "Prints the script; put it where your shell looks for completions.",
       1,
       1,
       false,
       {},
       {{"rekey completions bash > ~/.local/share/bash-completion/completions/rekey", "bash"},
        {"rekey completions fish > ~/.config/fish/completions/rekey.fish", "fish"}},
       RunCompletions},
  };
  return kVerbs;
}

const VerbInfo* FindVerb(std::string_view name) {
  for (const VerbInfo& verb : Verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

}  // namespace rekey::cli
