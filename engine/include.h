// `include`: the statements of a rule file with those of the files it names put in their place.
//
// Paths are relative to the including file; `pack:NAME@VERSION` names a pack. Reading stops at a
// cycle, which is an error. Tests of included files are left out: they are run with the file that
// they stand in.
//
//   Spliced whole = Splice(file, &diagnostics);
//   for (const Spliced::Item& item : whole.items) ... item.statement->node
#ifndef REKEY_ENGINE_INCLUDE_H_
#define REKEY_ENGINE_INCLUDE_H_

#include <memory>
#include <vector>

#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct Spliced {
  struct Item {
    const ast::Statement* statement;
    bool included;
  };
  std::vector<Item> items;                              // no Include among them
  std::vector<std::shared_ptr<const ast::File>> files;  // the main file first
};

Spliced Splice(std::shared_ptr<const ast::File> file, Diagnostics* diagnostics);

}  // namespace rekey

#endif  // REKEY_ENGINE_INCLUDE_H_
