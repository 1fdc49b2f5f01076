// Writes a pickle, protocol 2, opcode by opcode, into a text.
//
// It knows the stack machine's spelling and nothing of torch: callers push values in order and say
// what becomes of them. Names of classes and words that come again are written once and fetched
// from the memo after that. It is not a serialiser of object trees.
//
//   PickleWriter p;
//   p.Global("collections", "OrderedDict");  p.EmptyTuple();  p.Reduce();
//   p.Mark();  p.Text("epoch");  p.Int(3);  p.SetItems();
//   std::string bytes = p.Finish();
#ifndef REKEY_ENGINE_FORMATS_PICKLE_WRITER_H_
#define REKEY_ENGINE_FORMATS_PICKLE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/shape.h"

namespace rekey {

class PickleWriter {
 public:
  PickleWriter();

  void None() { Op('N'); }
  void Bool(bool value) { Op(value ? '\x88' : '\x89'); }
  void Int(int64_t value);
  void Float(double value);
  void Text(std::string_view utf8);
  // The same for a text that comes again: a fetch from the memo the second time.
  void Word(std::string_view utf8);
  // The class or function `module.name`; its loader decides whether it may be imported.
  void Global(std::string_view module, std::string_view name);

  void Mark() { Op('('); }
  void Tuple() { Op('t'); }  // of all since the mark
  void EmptyTuple() { Op(')'); }
  void EmptyList() { Op(']'); }
  void EmptyDict() { Op('}'); }
  void Appends() { Op('e'); }   // all since the mark to the list below it
  void SetItem() { Op('s'); }   // a key and its value
  void SetItems() { Op('u'); }  // all since the mark
  void Reduce() { Op('R'); }    // calls
  void Build() { Op('b'); }     // sets the state
  void PersistentId() { Op('Q'); }
  void IntTuple(const Dims& values);

  size_t size() const { return text_.size(); }
  // Ends the pickle and gives it up.
  std::string Finish();

 private:
  void Op(char opcode) { text_.push_back(opcode); }
  void Bytes(uint64_t value, size_t count);  // little endian
  // True after writing a fetch; otherwise the caller writes the value and calls Remember.
  bool Fetch(const std::string& key);
  void Remember(std::string key);

  std::string text_;
  std::unordered_map<std::string, uint32_t> memo_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_PICKLE_WRITER_H_
