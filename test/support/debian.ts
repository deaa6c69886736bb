/** Programs of Debian that tests want, by the packages that a lock names. */

import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readDebianLock, unpackDebian } from '../../src/adapters/control-plane/index.ts'
import { placeFor } from './cache.ts'

/** Those of the folder of that name here, fetched when they are new on this machine. */
export function debianPrograms(name: string, title: string) {
  const lock = join(import.meta.dirname, name, 'debian.txt')
  const place = placeFor(name, [lock])
  /** Starts other programs: the C library of this machine may be older than theirs. */
  const loader = () => join(place, globSync('{lib,usr/lib}*/**/ld-linux-*.so.*', { cwd: place })[0] ?? '')
  const acquire = async () => {
    if (!existsSync(place)) await fetchDebian(lock, place)
  }
  return {
    place,
    loader,
    /** Fetches them where they are not there yet. */
    acquire,
    /** Why tests with it are left out; `undefined` where it can be had. */
    async lacks(): Promise<string | undefined> {
      if (process.platform !== 'linux') return `the ${title} of these tests is that of Debian, for Linux`
      try {
        await acquire()
        return undefined
      } catch (thrown) {
        if (existsSync(place)) return undefined
        return `${title} cannot be fetched: ${thrown instanceof Error ? thrown.message : 'nobody knows why'}`
      }
    },
    /** The words that start the program of that path. `starter`: the loader, where it lies elsewhere. */
    words(path: string, starter = loader()): [string, ...string[]] {
      const libraries = globSync('{lib,usr/lib}/*-linux-gnu{,/pulseaudio}', { cwd: place }).map((folder) => join(place, folder))
      return [starter, '--library-path', libraries.join(':'), join(place, path)]
    },
  }
}

/** Fetches the packages of the lock and unpacks them there. */
async function fetchDebian(lock: string, place: string): Promise<void> {
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
