// JSON for programs: one object a run, keys in a fixed order, on standard output.
//
//   JsonText json;
//   json.StartObject();  json.Key("format");  json.Text("safetensors");  json.EndObject();
//   json.Print();
#ifndef REKEY_CLI_JSON_TEXT_H_
#define REKEY_CLI_JSON_TEXT_H_

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph.h"
#include "grammar/diagnostic.h"

namespace rekey::cli {

class JsonText {
 public:
  void StartObject() { writer_.StartObject(); }
  void EndObject() { writer_.EndObject(); }
  void StartArray() { writer_.StartArray(); }
  void EndArray() { writer_.EndArray(); }
  void Key(std::string_view key) { Text(key); }
  void Text(std::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void Number(uint64_t number) { writer_.Uint64(number); }
  void Integer(int64_t number) { writer_.Int64(number); }
  void Real(double number) { writer_.Double(number); }
  void Truth(bool truth) { writer_.Bool(truth); }
  void Null() { writer_.Null(); }

  void Field(std::string_view key, std::string_view text) { Key(key), Text(text); }
  void Field(std::string_view key, uint64_t number) { Key(key), Number(number); }

  void Field(std::string_view key, const char* text) { Key(key), Text(text); }
  void Texts(std::string_view key, const std::vector<std::string>& texts);

  // "dtype": "f32", "shape": [2, 3]
  void Type(const TensorType& type);

  // {severity, name, message, file, line, column, end_column, notes, helps}; place is null when
  // the diagnostic has none.
  void Message(const Diagnostic& diagnostic);
  void Messages(std::string_view key, const Diagnostics& diagnostics);

  void Print() { std::cout << std::string_view(buffer_.GetString(), buffer_.GetSize()) << "\n"; }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

// The object of a run that failed: {"errors": [...], "warnings": [...]}.
void PrintFailure(const Diagnostics& errors, const Diagnostics& warnings);

}  // namespace rekey::cli

#endif  // REKEY_CLI_JSON_TEXT_H_
