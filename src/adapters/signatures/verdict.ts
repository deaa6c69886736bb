/** Who signed a commit or an artifact, or why it is refused: `why` is read after its name. */
export type SignatureVerdict<What extends 'Commit' | 'Artifact' = 'Commit'> =
  | { readonly signer: string }
  | { readonly reason: `${What}${'NotSigned' | 'SignatureInvalid' | 'SignerNotAllowed'}`; readonly why: string }
