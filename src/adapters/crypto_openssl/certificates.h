#pragma once
// The server's own certificate authority and the certificate it signs for itself. Clients trust the authority
// once; it lives 10 years, the server's certificate 90 days, and both are renewed here before they end.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace lavant::adapters {

struct CertificateFiles {
    std::string ca_file;           // what clients trust
    std::string certificate_file;  // PEM, for the server
    std::string key_file;          // PEM, 0600
    bool renewed = false;          // this call wrote a new server certificate
};

// Makes or renews what is needed in `folder`. The certificate is valid for 127.0.0.1, ::1, localhost, this
// machine's name and `names` (host names or addresses). Cheap when nothing is due: call it at start and once
// a day.
[[nodiscard]] Result<CertificateFiles> ensure_certificates(const std::string& folder,
                                                           const std::vector<std::string>& names,
                                                           Instant now);

// SHA-256 of the first certificate in a PEM file, as "AB:CD:...": what `lavant login` shows and pins.
[[nodiscard]] Result<std::string> certificate_fingerprint(const std::string& certificate_file);

}  // namespace lavant::adapters
