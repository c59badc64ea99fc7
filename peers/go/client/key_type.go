package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/mldsa"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
)

var mldsaNames = map[mldsa.Parameters]string{
	mldsa.MLDSA44(): "mldsa-44",
	mldsa.MLDSA65(): "mldsa-65",
	mldsa.MLDSA87(): "mldsa-87",
}

// keyType names a certificate's key as `tlscost certs` does: ecdsa-p256, rsa-2048, mldsa-65, ...
func keyType(certificate *x509.Certificate) string {
	switch key := certificate.PublicKey.(type) {
	case *ecdsa.PublicKey:
		return fmt.Sprintf("ecdsa-p%d", key.Params().BitSize)
	case *rsa.PublicKey:
		return fmt.Sprintf("rsa-%d", key.N.BitLen())
	case ed25519.PublicKey:
		return "ed25519"
	case *mldsa.PublicKey:
		return mldsaNames[key.Parameters()]
	}
	return certificate.PublicKeyAlgorithm.String()
}
