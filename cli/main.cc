// The program: finds the verb and runs it.
#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << "rekey 0.1.0\n";
    return 0;
  }
  std::cerr << "error: no verb is built in yet\n";
  return 2;
}
