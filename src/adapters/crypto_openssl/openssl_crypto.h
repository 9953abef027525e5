#pragma once
// The Crypto port over OpenSSL. The key of seal() and open() lies in a file of 32 random bytes that is made,
// readable by its owner only, when it does not exist yet.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/crypto.h"

namespace lavant::adapters {

class OpensslCrypto final : public ports::Crypto {
 public:
    [[nodiscard]] static Result<std::unique_ptr<OpensslCrypto>> load(const std::string& key_file);
    // For programs that seal nothing (the command line): the key is random and lives in memory only.
    [[nodiscard]] static Result<std::unique_ptr<OpensslCrypto>> without_key_file();
    ~OpensslCrypto() override;

    // The bytes of the key file: the server secret from which node credentials and tokens are derived.
    const std::string& secret() const { return key_; }

    std::string random_bytes(std::size_t count) override;
    std::string sha256(std::string_view bytes) override;
    std::string sha256_of_chunks(const std::function<std::optional<std::string_view>()>& next) override;
    std::string md5_of_chunks(const std::function<std::optional<std::string_view>()>& next) override;
    std::string md5(std::string_view bytes) override;
    std::string hmac_sha256(std::string_view key, std::string_view bytes) override;
    bool equal_in_constant_time(std::string_view a, std::string_view b) override;
    std::string seal(std::string_view plain, std::string_view context) override;
    [[nodiscard]] Result<std::string> open(std::string_view sealed, std::string_view context) override;
    std::unique_ptr<const ports::SigningKey> derive_signing_key(std::string_view seed) override;

 private:
    struct Algorithms;
    explicit OpensslCrypto(std::string key);
    static Result<std::unique_ptr<OpensslCrypto>> make(std::string key);

    std::string key_;
    std::unique_ptr<const Algorithms> algorithms_;  // fetched once: a fetch costs more than a small digest
};

}  // namespace lavant::adapters
