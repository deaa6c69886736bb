/** Prometheus and promtool, as Debian has them. */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readDebianLock, unpackDebian } from '../../src/adapters/control-plane/index.ts'
import { placeFor } from './cache.ts'

const LOCK = join(import.meta.dirname, 'prometheus/debian.txt')

const PLACE = placeFor('prometheus', [LOCK])

/** Why the tests with it are left out; `undefined` where it can be had. */
export const lacksPrometheus = (): string | undefined =>
  process.env.TEST_NODE === 'make' || existsSync(PLACE)
    ? undefined
    : 'Prometheus is not there yet: `npm test -- monitoring e2e/node` fetches it, once'

/** The paths of both programs, fetched when they are new here. */
export async function acquirePrometheus(): Promise<{ prometheus: string; promtool: string }> {
  if (!existsSync(PLACE)) await fetchInto(PLACE)
  const program = (name: string) => join(PLACE, 'usr/bin', name)
  return { prometheus: program('prometheus'), promtool: program('promtool') }
}

async function fetchInto(place: string): Promise<void> {
  const [into, downloads] = [`${place}.${process.pid}`, `${place}.${process.pid}.downloads`]
  mkdirSync(downloads, { recursive: true })
  try {
    await unpackDebian({ ...readDebianLock(LOCK), downloads, into, env: process.env })
    // Whoever fetches the same at the same time gets the same.
    if (!existsSync(place)) renameSync(into, place)
  } finally {
    for (const folder of [into, downloads]) rmSync(folder, { recursive: true, force: true })
  }
}

/** The files of the kinds that the Prometheus operator has of each installation of ours. Wants Go, as cert-manager's test does. */
export async function prometheusOperatorKinds(): Promise<string[]> {
  const module = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: tmpdir() })
  const { Dir } = JSON.parse(stdout) as { Dir: string }
  return ['podmonitors', 'prometheusrules'].map((kind) =>
    join(Dir, 'example/prometheus-operator-crd', `monitoring.coreos.com_${kind}.yaml`),
  )
}
