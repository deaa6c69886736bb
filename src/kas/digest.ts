import { createHash } from 'node:crypto'
import type { Secret } from '../std/index.ts'

/** Stands for a token wherever one is remembered or compared. Only digests are compared, so the time taken tells nothing of the token. */
export const digestOf = (token: Secret<string>): string => createHash('sha256').update(token.reveal()).digest('hex')
