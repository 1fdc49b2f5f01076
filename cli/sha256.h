// SHA-256 (FIPS 180-4) of a text, for `run --stamp`.
#ifndef REKEY_CLI_SHA256_H_
#define REKEY_CLI_SHA256_H_

#include <string>
#include <string_view>

namespace rekey::cli {

std::string Sha256(std::string_view text);  // 64 lower-case hexadecimal digits, as sha256sum prints

}  // namespace rekey::cli

#endif  // REKEY_CLI_SHA256_H_
