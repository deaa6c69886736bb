import { createHash } from 'node:crypto'

/** The number that peers want for an object: the same for its life, and exact also where numbers are doubles. 48 bits, positive. */
export const numberOf = (uid: string): bigint => BigInt(createHash('sha256').update(uid).digest().readUIntBE(0, 6))
