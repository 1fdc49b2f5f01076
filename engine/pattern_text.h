// Patterns of the tree to RE2 text, with the holes of a whole rule numbered together.
//
// A rule's pattern is the concatenation of the patterns of its scopes and its own; each piece is
// appended to a PatternText, which remembers what every RE2 group stands for. Holes is the rule's
// list of variables: a hole that occurs in several members of a `merge` list is one variable.
//
//   PatternText text;  Holes holes;  std::vector<int> groups;
//   compiler.Append(pattern, {}, &text, &holes, &groups);
//   KeyPattern done = compiler.Finish(text, span, holes);
#ifndef REKEY_ENGINE_PATTERN_TEXT_H_
#define REKEY_ENGINE_PATTERN_TEXT_H_

#include <string>
#include <vector>

#include "engine/expr.h"
#include "engine/names.h"
#include "engine/pattern.h"
#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct PatternText {
  std::string regex;
  std::string prefix;
  bool prefix_open = true;  // all text so far is literal
  bool is_regex = false;
  std::vector<int> variables;  // of RE2 group 1, 2, ...
};

struct Holes {
  std::vector<Variable> variables;
  std::vector<std::vector<std::string>> words;  // of a list of words or a table: as written
  std::vector<bool> used;
  bool broken = false;  // a regex is wrong, so that its groups are not known

  // From variable `from` on; -1 when there is none.
  int Find(const std::string& name, size_t from = 0) const;
  int Add(Variable variable, std::vector<std::string> words = {});
};

struct PatternOptions {
  size_t outer = 0;          // that many variables belong to enclosing scopes
  bool whole_key = true;     // false in `rename`
  bool whole_match = false;  // \0 is asked for
};

class PatternCompiler {
 public:
  PatternCompiler(Names* names, Diagnostics* diagnostics)
      : names_(names), diagnostics_(diagnostics) {}

  // `groups` receives the variables of \0, \1, ... when the pattern is a regex. `same`, if given,
  // is appended the target that puts the matched text back.
  void Append(const ast::Pattern& pattern, const PatternOptions& options, PatternText* text,
              Holes* holes, std::vector<int>* groups, std::vector<KeyTarget::Part>* same = nullptr);

  KeyPattern Finish(const PatternText& text, Span span, const Holes& holes);

 private:
  struct Kind {
    std::string regex;
    Variable variable;
    std::vector<std::string> words;
  };
  Kind KindOf(const ast::Hole& hole);
  Kind WordsKind(Variable variable, const std::vector<std::string>& words) const;
  Diagnostic UnknownKind(const ast::Hole& hole, const std::string& word) const;
  void AppendText(const std::string& literal, PatternText* text,
                  std::vector<KeyTarget::Part>* same);
  void AppendHole(const ast::Hole& hole, const PatternOptions& options, PatternText* text,
                  Holes* holes, std::vector<std::string>* seen, std::vector<KeyTarget::Part>* same);
  void AppendRegex(const ast::Pattern& pattern, const PatternOptions& options, PatternText* text,
                   Holes* holes, std::vector<int>* groups);
  int Number(Variable variable, std::vector<std::string> words, const PatternOptions& options,
             Holes* holes, std::vector<std::string>* seen);

  Names* names_;
  Diagnostics* diagnostics_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_PATTERN_TEXT_H_
