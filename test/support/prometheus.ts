/** Prometheus and promtool, as Debian has them. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { debianPrograms } from './debian.ts'

const DEBIAN = debianPrograms('prometheus', 'Prometheus')

/** Why the tests with it are left out; `undefined` where it can be had. */
export const lacksPrometheus = (): string | undefined =>
  process.env.TEST_NODE === 'make' || existsSync(DEBIAN.place)
    ? undefined
    : 'Prometheus is not there yet: `npm test -- monitoring e2e/node` fetches it, once'

/** The paths of both programs, fetched when they are new here. */
export async function acquirePrometheus(): Promise<{ prometheus: string; promtool: string }> {
  await DEBIAN.acquire()
  const program = (name: string) => join(DEBIAN.place, 'usr/bin', name)
  return { prometheus: program('prometheus'), promtool: program('promtool') }
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
