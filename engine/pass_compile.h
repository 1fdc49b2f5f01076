// Edits, rules, `else` and affixes in file order to passes.
//
// A pass has one shape: edits, then rules, then `else`, then affixes. A statement that comes too
// late is an error that says to start a new pass; nothing is reordered.
//
//   PassCompiler passes(context, &program);
//   for (statement) passes.Add(statement);     // false: it is no statement of a pass
//   passes.Finish(strict);
#ifndef REKEY_ENGINE_PASS_COMPILE_H_
#define REKEY_ENGINE_PASS_COMPILE_H_

#include "engine/program.h"
#include "engine/rule_compile.h"
#include "grammar/ast.h"

namespace rekey {

class PassCompiler {
 public:
  PassCompiler(const CompileContext& context, Program* program);

  bool Add(const ast::Statement& statement);
  void Finish(bool strict, Span strict_span);

 private:
  enum class Stage { kEdits, kRules, kElse, kAffixes };

  void AddEdit(const ast::Strip& strip, Span span);
  void AddEdit(const ast::Rename& rename, Span span);
  void AddRule(const ast::Statement& statement);
  void AddElse(const ast::Else& rest, Span span);
  void AddAffix(const ast::Affix& affix, Span span);
  void StartPass(const ast::Then& then, Span span);
  void FinishPass();

  // Moves on to that stage; an error if the pass is past it.
  void Enter(Stage stage, const char* what, Span span);
  void CheckStripText(const ast::Strip& strip, const ast::Strip::Text& text);
  void CheckRenameText(const ast::Rename& rename);
  Pass& pass() { return program_->passes.back(); }

  CompileContext context_;
  Program* program_;
  Stage stage_ = Stage::kEdits;
  Span last_;  // the statement that brought the pass to its stage
};

}  // namespace rekey

#endif  // REKEY_ENGINE_PASS_COMPILE_H_
