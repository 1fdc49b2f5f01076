// Tree to Program.
//
// Compile resolves names, params, tables, scopes, includes and patterns, and lints what it sees.
// It reads the files that `include` names and nothing else. Every error is collected, not only the
// first.
//
//   CompileOptions options;  options.params = {{"layers", "24"}};
//   Compiled c = Compile(file, options);
//   if (c.program) Rewrite(*c.program, catalog, ...)
//
// What happens before the checkpoint is open - `select` and `source` lines - is CompileInputs.
#ifndef REKEY_ENGINE_COMPILE_H_
#define REKEY_ENGINE_COMPILE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalog.h"
#include "engine/checkpoint.h"
#include "engine/program.h"
#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct CompileOptions {
  // -p name=value in order; the texts are read as expressions of the language. Later ones win.
  std::vector<std::pair<std::string, std::string>> params;
  // `with name = value` of a test block: wins over everything above.
  std::vector<std::pair<std::string, ast::Expr>> with;
  // Where meta("...") is looked up; null: no checkpoint is open, such params have no value.
  const Catalog* catalog = nullptr;
  bool strict = false;  // --strict
  // True inside test blocks: no required-param and no unused lints.
  bool testing = false;
};

struct Compiled {
  std::optional<Program> program;  // absent when there are errors
  Diagnostics diagnostics;
  std::vector<std::shared_ptr<const ast::File>> files;  // what the diagnostics point into
};

Compiled Compile(std::shared_ptr<const ast::File> file, const CompileOptions& options);

// `select` and the `source` lines alone, as the opener of checkpoints wants them. The spec's
// functions refer to `file`, which they keep alive.
struct CompiledInputs {
  std::optional<InputSpec> spec;  // absent when there are errors
  bool has_source = false;        // there are `source` lines
  Diagnostics diagnostics;
  std::vector<std::shared_ptr<const ast::File>> files;  // what the diagnostics point into
};
CompiledInputs CompileInputs(std::shared_ptr<const ast::File> file, const CompileOptions& options);

// A pattern alone, for `keys --filter`. The result points into no Source.
Result<KeyPattern> CompileFilter(const std::string& text);

// Reads, parses and keeps a rule file: a path, "-" for standard input, or pack:NAME[@VERSION].
struct LoadedRules {
  std::shared_ptr<const ast::File> file;  // null when it could not be read or parsed
  std::shared_ptr<const Source> source;   // what the diagnostics point into; null if unread
  Diagnostics diagnostics;
};
LoadedRules LoadRules(const std::string& rules);

// The same for a text at hand, such as the lines of `-e`. `name` is what messages print.
LoadedRules LoadRulesText(const std::string& name, std::string text);

}  // namespace rekey

#endif  // REKEY_ENGINE_COMPILE_H_
