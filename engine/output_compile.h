// Statements on the whole output - fill, copy, tie, expect - with their loops.
//
//   OutputCompiler outputs(context);
//   program.outputs.push_back(outputs.Compile(fill, span));
#ifndef REKEY_ENGINE_OUTPUT_COMPILE_H_
#define REKEY_ENGINE_OUTPUT_COMPILE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/program.h"
#include "engine/rule_compile.h"
#include "grammar/ast.h"

namespace rekey {

class OutputCompiler {
 public:
  explicit OutputCompiler(const CompileContext& context) : context_(context) {}

  Fill Compile(const ast::Fill& tree, Span span);
  Copy Compile(const ast::Copy& tree, Span span);
  Tie Compile(const ast::Tie& tree, Span span);
  Expect Compile(const ast::Expect& tree, Span span);

  // `for i in a..b`, `for PATTERN`: its holes are added to `holes`, its groups to `groups`.
  Loop CompileLoop(const ast::For& tree, Holes* holes, std::vector<int>* groups);

  // The dtype of that name; an error with the nearest one if there is none.
  DType CompileDType(const std::string& word, Span span);

 private:
  void CompileFillValue(const ast::Fill& tree, const BindPlace& place, Fill* fill);
  CompileContext context_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_OUTPUT_COMPILE_H_
