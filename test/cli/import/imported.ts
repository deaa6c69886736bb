import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../../src/api/index.ts'
import { berth, type Outcome } from '../berth.ts'

/** What `berth import` has made of these objects, and what it has said. */
export interface Printed extends Outcome {
  /** But for service accounts and their role bindings. */
  objects: (KubeObject & { spec: Record<string, unknown> })[]
  /** Without line breaks. */
  report: string
  /** The commands, in their order. */
  commands: string[]
}

interface Written {
  metadata: object
}

/** Runs `berth import argo|flux -f FILE`, with the objects in one file, as a cluster has them. */
export async function importing(program: 'argo' | 'flux', objects: readonly Written[], words: string[] = []): Promise<Printed> {
  const live = objects.map((object, at) => ({ ...object, metadata: { uid: `uid-${at}`, ...object.metadata } }))
  const folder = await mkdtemp(join(tmpdir(), 'berth-import-'))
  try {
    const file = join(folder, 'theirs.yaml')
    await writeFile(file, live.map((object) => JSON.stringify(object)).join('\n---\n'))
    return printedBy(await berth(['import', program, '-f', file, ...words]))
  } finally {
    await rm(folder, { recursive: true })
  }
}

export function printedBy(outcome: Outcome): Printed {
  const documents = parseAllDocuments(outcome.stdout)
  const all = Array.isArray(documents) ? documents.map((document) => document.toJS()) : []
  const objects = all.filter(({ kind }) => kind !== 'ServiceAccount' && kind !== 'RoleBinding')
  const report = outcome.stderr.replaceAll(/\s+/g, ' ')
  const commands = outcome.stderr.split('\n').flatMap((line) => (line.startsWith('  $ ') ? [line.slice(4)] : []))
  return { ...outcome, objects, report, commands }
}

/** The spec of the object of that kind, and of that name where several are. */
export const specOf = ({ objects }: Printed, kind: string, name?: string): Record<string, unknown> =>
  objects.find((each) => each.kind === kind && (name === undefined || each.metadata.name === name))?.spec ?? {}
