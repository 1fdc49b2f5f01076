// One message to a person: what is wrong, where, why, and what to do about it.
//
// Every error and warning of rekey is a Diagnostic, from a syntax error to a full disk. It has one
// primary place at most, further places with labels, facts (notes) and ways out (helps). Its name
// (`unused-rule`) stands in brackets after the message, is the argument of --allow, and is an
// anchor in grammar/LANGUAGE.md. It is not an exception and not a log line.
//
//   return Error("unknown-verb", "unknown verb `mapp`").At(span, "not a verb").Help("write `map`");
//
// renders as
//
//   error: unknown verb `mapp` [unknown-verb]
//    --> a.rekey:3:1
//     |
//   3 | mapp a -> b
//     | ^^^^ not a verb
//     = help: write `map`
#ifndef REKEY_GRAMMAR_DIAGNOSTIC_H_
#define REKEY_GRAMMAR_DIAGNOSTIC_H_

#include <string>
#include <utility>
#include <vector>

#include "grammar/source.h"

namespace rekey {

enum class Severity { kError, kWarning, kNote };

struct Label {
  Span span;
  std::string text;  // may be empty
};

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string name;     // kebab-case class, such as "unused-rule"
  std::string message;  // one sentence: the thing and the fact, no full stop
  Label primary;        // primary.span may be nowhere
  std::vector<Label> labels;
  std::vector<std::string> notes;  // facts
  std::vector<std::string> helps;  // what to do

  Diagnostic& At(Span span, std::string label = "") & {
    primary = {span, std::move(label)};
    return *this;
  }
  Diagnostic& Also(Span span, std::string label) & {
    labels.push_back({span, std::move(label)});
    return *this;
  }
  Diagnostic& Note(std::string text) & {
    notes.push_back(std::move(text));
    return *this;
  }
  Diagnostic& Help(std::string text) & {
    helps.push_back(std::move(text));
    return *this;
  }
  Diagnostic&& At(Span span, std::string label = "") && {
    return std::move(At(span, std::move(label)));
  }
  Diagnostic&& Also(Span span, std::string label) && {
    return std::move(Also(span, std::move(label)));
  }
  Diagnostic&& Note(std::string text) && { return std::move(Note(std::move(text))); }
  Diagnostic&& Help(std::string text) && { return std::move(Help(std::move(text))); }
};

Diagnostic Error(std::string name, std::string message);
Diagnostic Warning(std::string name, std::string message);

using Diagnostics = std::vector<Diagnostic>;

// True if any of them is an error.
bool HasErrors(const Diagnostics& diagnostics);

// The message as text, ending in a newline. With `color`, ANSI escapes. Control characters of keys
// and file names are printed escaped, so that a checkpoint cannot steer the terminal.
std::string Render(const Diagnostic& diagnostic, bool color);

}  // namespace rekey

#endif  // REKEY_GRAMMAR_DIAGNOSTIC_H_
