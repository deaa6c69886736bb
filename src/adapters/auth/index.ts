/**
 * Tokens that two programs with a common secret show each other: JSON Web Tokens, HS256 and nothing else, issuer and audience
 * checked, seconds long. Tokens of agents and of Kubernetes are not here: kas/authorization knows those. Read jwt.ts.
 */
export { createSigner, createVerifier, type JwtOptions } from './jwt.ts'
