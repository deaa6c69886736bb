/** Programs of Debian that tests want, by the packages that a lock names. */

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { readDebianLock, unpackDebian } from '../../src/adapters/control-plane/index.ts'

/** Fetches the packages of the lock and unpacks them there. */
export async function fetchDebian(lock: string, place: string): Promise<void> {
  const [into, downloads] = [`${place}.${process.pid}`, `${place}.${process.pid}.downloads`]
  mkdirSync(downloads, { recursive: true })
  try {
    await unpackDebian({ ...readDebianLock(lock), downloads, into, env: process.env })
    // Whoever fetches the same at the same time gets the same.
    if (!existsSync(place)) renameSync(into, place)
  } finally {
    for (const folder of [into, downloads]) rmSync(folder, { recursive: true, force: true })
  }
}
