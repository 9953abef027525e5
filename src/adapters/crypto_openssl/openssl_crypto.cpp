#include "adapters/crypto_openssl/openssl_crypto.h"

#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>

#include "adapters/crypto_openssl/openssl_handles.h"
#include "base/check.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::adapters {
namespace {

using namespace openssl;

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr char kSealVersion = 1;
constexpr std::size_t kSealOverhead = 1 + kNonceBytes + kTagBytes;

std::string random_string(std::size_t count) {
    CHECK(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
          "random bytes come in small portions");
    std::string bytes(count, '\0');
    CHECK(RAND_bytes(bytes_of(bytes.data()), static_cast<int>(count)) == 1,
          "without randomness nothing is secret");
    return bytes;
}

std::string digest(const EVP_MD* algorithm, std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    unsigned int length = 0;
    CHECK(EVP_Digest(bytes.data(), bytes.size(), out.data(), &length, algorithm, nullptr) == 1,
          "digests cannot fail");
    return {reinterpret_cast<const char*>(out.data()), length};
}

// Links a finished file into place, so that of two processes that start at once both use the same key.
Result<void> make_key_file(const std::string& path) {
    LAVANT_TRY_VOID(make_directories(parent_of(path)));
    const std::string beside = path + ".new." + to_hex(random_string(8));
    LAVANT_TRY_VOID(write_file_atomically(beside, random_string(kKeyBytes), 0600));
    const int linked = ::link(beside.c_str(), path.c_str());
    const int reason = errno;
    ::unlink(beside.c_str());
    if (linked != 0 && reason != EEXIST)
        return fail(system_error("create the key file '" + path + "'", reason));
    return sync_directory(parent_of(path));
}

Result<void> check_privacy(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0)
        return fail(system_error("look at the key file '" + path + "'", errno));
    if ((found.st_mode & 0077U) != 0)
        return fail(ErrorCode::PermissionDenied,
                    "the key file '" + path +
                        "' is open to other users: run chmod 600 on it, and replace it if "
                        "somebody may have read it");
    return {};
}

int checked_int(std::size_t length) {
    CHECK(length <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "sealed values are small");
    return static_cast<int>(length);
}

std::string digest_of_chunks(const EVP_MD* algorithm,
                             const std::function<std::optional<std::string_view>()>& next) {
    const DigestContext context{EVP_MD_CTX_new()};
    CHECK(context && EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1, "digests cannot fail");
    while (const auto chunk = next()) {
        CHECK(EVP_DigestUpdate(context.get(), chunk->data(), chunk->size()) == 1, "digests cannot fail");
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    unsigned int length = 0;
    CHECK(EVP_DigestFinal_ex(context.get(), out.data(), &length) == 1, "digests cannot fail");
    return {reinterpret_cast<const char*>(out.data()), length};
}

}  // namespace

struct OpensslCrypto::Algorithms {
    Digest sha256{EVP_MD_fetch(nullptr, "SHA256", nullptr)};
    Digest md5{EVP_MD_fetch(nullptr, "MD5", nullptr)};
    Cipher aes{EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr)};
    Mac hmac{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
};

OpensslCrypto::OpensslCrypto(std::string key)
    : key_(std::move(key)), algorithms_(std::make_unique<const Algorithms>()) {}

OpensslCrypto::~OpensslCrypto() { OPENSSL_cleanse(key_.data(), key_.size()); }

Result<std::unique_ptr<OpensslCrypto>> OpensslCrypto::load(const std::string& key_file) {
    if (!exists(key_file)) LAVANT_TRY_VOID(make_key_file(key_file));
    LAVANT_TRY_VOID(check_privacy(key_file));
    LAVANT_TRY(std::string key, read_file(key_file, kKeyBytes));
    if (key.size() != kKeyBytes)
        return fail(ErrorCode::InvalidArgument, "the key file '" + key_file + "' has " +
                                                    std::to_string(key.size()) +
                                                    " bytes, not 32: restore it from a backup");
    return make(std::move(key));
}

Result<std::unique_ptr<OpensslCrypto>> OpensslCrypto::without_key_file() {
    return make(random_string(kKeyBytes));
}

Result<std::unique_ptr<OpensslCrypto>> OpensslCrypto::make(std::string key) {
    std::unique_ptr<OpensslCrypto> crypto(new OpensslCrypto(std::move(key)));
    const Algorithms& all = *crypto->algorithms_;
    if (!all.sha256 || !all.md5 || !all.aes || !all.hmac)
        return fail(ErrorCode::Unavailable,
                    "this OpenSSL offers no SHA256, MD5, HMAC or AES-256-GCM: check its configuration file");
    return crypto;
}

std::string OpensslCrypto::random_bytes(std::size_t count) { return random_string(count); }

std::string OpensslCrypto::sha256(std::string_view bytes) { return digest(algorithms_->sha256.get(), bytes); }

std::string OpensslCrypto::sha256_of_chunks(const std::function<std::optional<std::string_view>()>& next) {
    return digest_of_chunks(algorithms_->sha256.get(), next);
}

std::string OpensslCrypto::md5_of_chunks(const std::function<std::optional<std::string_view>()>& next) {
    return digest_of_chunks(algorithms_->md5.get(), next);
}

std::string OpensslCrypto::md5(std::string_view bytes) { return digest(algorithms_->md5.get(), bytes); }

std::string OpensslCrypto::hmac_sha256(std::string_view key, std::string_view bytes) {
    std::string name = "SHA256";
    const std::array<OSSL_PARAM, 2> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), 0), OSSL_PARAM_construct_end()};
    const MacContext context{EVP_MAC_CTX_new(algorithms_->hmac.get())};
    // OpenSSL takes a null key for "the key set before", so an empty key still needs an address.
    const char* key_address = key.empty() ? "" : key.data();
    std::string out(kKeyBytes, '\0');
    std::size_t length = 0;
    CHECK(context && EVP_MAC_init(context.get(), bytes_of(key_address), key.size(), parameters.data()) == 1 &&
              EVP_MAC_update(context.get(), bytes_of(bytes.data()), bytes.size()) == 1 &&
              EVP_MAC_final(context.get(), bytes_of(out.data()), &length, out.size()) == 1 &&
              length == out.size(),
          "a MAC over memory cannot fail");
    return out;
}

bool OpensslCrypto::equal_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string OpensslCrypto::seal(std::string_view plain, std::string_view context) {
    const std::string nonce = random_string(kNonceBytes);
    std::string sealed(kSealOverhead + plain.size(), '\0');
    sealed[0] = kSealVersion;
    nonce.copy(sealed.data() + 1, kNonceBytes);
    char* const out = sealed.data() + 1 + kNonceBytes;
    const CipherContext cipher{EVP_CIPHER_CTX_new()};
    EVP_CIPHER_CTX* const aes = cipher.get();
    int length = 0;
    CHECK(aes != nullptr &&
              EVP_EncryptInit_ex2(aes, algorithms_->aes.get(), bytes_of(key_.data()), bytes_of(nonce.data()),
                                  nullptr) == 1 &&
              EVP_EncryptUpdate(aes, nullptr, &length, bytes_of(context.data()),
                                checked_int(context.size())) == 1 &&
              EVP_EncryptUpdate(aes, bytes_of(out), &length, bytes_of(plain.data()),
                                checked_int(plain.size())) == 1 &&
              EVP_EncryptFinal_ex(aes, bytes_of(out) + plain.size(), &length) == 1 &&
              EVP_CIPHER_CTX_ctrl(aes, EVP_CTRL_GCM_GET_TAG, kTagBytes, out + plain.size()) == 1,
          "sealing in memory cannot fail");
    return sealed;
}

Result<std::string> OpensslCrypto::open(std::string_view sealed, std::string_view context) {
    const auto refuse = [] {
        return fail(
            ErrorCode::InvalidArgument,
            "cannot open a sealed value: it was changed, or sealed with another key file; restore the key "
            "file that belongs to this database");
    };
    if (sealed.size() < kSealOverhead || sealed[0] != kSealVersion) return refuse();
    const char* const nonce = sealed.data() + 1;
    const std::string_view body = sealed.substr(1 + kNonceBytes, sealed.size() - kSealOverhead);
    std::string tag(sealed.substr(sealed.size() - kTagBytes));
    std::string plain(body.size(), '\0');
    const CipherContext cipher{EVP_CIPHER_CTX_new()};
    EVP_CIPHER_CTX* const aes = cipher.get();
    int length = 0;
    const bool opened = aes != nullptr &&
                        EVP_DecryptInit_ex2(aes, algorithms_->aes.get(), bytes_of(key_.data()),
                                            bytes_of(nonce), nullptr) == 1 &&
                        EVP_DecryptUpdate(aes, nullptr, &length, bytes_of(context.data()),
                                          checked_int(context.size())) == 1 &&
                        EVP_DecryptUpdate(aes, bytes_of(plain.data()), &length, bytes_of(body.data()),
                                          checked_int(body.size())) == 1 &&
                        EVP_CIPHER_CTX_ctrl(aes, EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
                        EVP_DecryptFinal_ex(aes, bytes_of(plain.data()) + plain.size(), &length) == 1;
    if (!opened) return refuse();
    return plain;
}

}  // namespace lavant::adapters
