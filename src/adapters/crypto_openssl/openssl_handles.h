#pragma once
// Owners for the OpenSSL objects this room uses. Included by its .cpp files only.

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace lavant::adapters::openssl {

template <auto Free>
struct Freer {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};

using Digest = std::unique_ptr<EVP_MD, Freer<EVP_MD_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freer<EVP_MD_CTX_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER, Freer<EVP_CIPHER_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Freer<EVP_CIPHER_CTX_free>>;
using Mac = std::unique_ptr<EVP_MAC, Freer<EVP_MAC_free>>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, Freer<EVP_MAC_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freer<EVP_PKEY_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, Freer<BN_clear_free>>;
using Curve = std::unique_ptr<EC_GROUP, Freer<EC_GROUP_free>>;
using Point = std::unique_ptr<EC_POINT, Freer<EC_POINT_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freer<ECDSA_SIG_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;

inline const unsigned char* bytes_of(const char* text) {
    return reinterpret_cast<const unsigned char*>(text);
}
inline unsigned char* bytes_of(char* text) { return reinterpret_cast<unsigned char*>(text); }

}  // namespace lavant::adapters::openssl
