import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Kube } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  labelledVersion,
  nameOf,
} from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import { readInventory } from '../install/inventory.ts'
import { presentOf } from '../install/shipped.ts'
import { definitionsIn, objectsIn } from '../manifests.ts'
import { type CheckContext, type DoctorFinding, type Examination, fail, ok, warn } from './finding.ts'

const INSTALL = 'Run `berth install --apply` of this version with your values, or apply your overlay.'

/** Every kind is there, established, and as its version of Berth has it. */
export const examineDefinitions: Examination = async (context) => {
  const wanted = definitionsIn(context.home).map(({ definition }) => definition)
  const findings = await Promise.all(wanted.map((definition) => definitionFinding(context, definition)))
  const bad = findings.filter(({ mark }) => mark !== 'ok')
  return bad.length > 0 ? bad : ok(`${findings.length} kinds are installed and established`)
}

async function definitionFinding({ kube }: CheckContext, wanted: CustomResourceDefinition): Promise<DoctorFinding> {
  const { name } = wanted.metadata
  const found = await kube.get(CustomResourceDefinitions, { name })
  if (!found) return fail(`${name} is not installed`, INSTALL)
  const established = found.status?.conditions?.find(({ type }) => type === 'Established')
  if (established?.status !== 'True')
    return fail(`${name} is not established: ${established?.message ?? 'no condition says why'}`, INSTALL)
  try {
    if (!(await differsFrom(kube, wanted, found))) return ok(name)
    const version = labelledVersion(found)
    // How far apart versions may be, the examination of versions knows.
    const isOfAnother = version !== undefined && version !== labelledVersion(wanted)
    return isOfAnother ? ok(name) : fail(`${name} is not as this version of Berth has it`, INSTALL)
  } catch (thrown) {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    const remedy = 'Run the doctor with the right to patch CustomResourceDefinitions.'
    return warn(`${name} could not be compared with this version`, remedy)
  }
}

/** The server itself says what an installation would change: a dry run, so that its defaults do not look like differences. */
async function differsFrom(kube: Kube, wanted: CustomResourceDefinition, found: CustomResourceDefinition): Promise<boolean> {
  const then = await kube.apply(CustomResourceDefinitions, wanted, { manager: 'kubectl', force: true, dryRun: true })
  return !isDeepStrictEqual(then.spec, found.spec)
}

/** The admission policies, their bindings, and what they look into. */
export const examinePolicies: Examination = async ({ kube, home, namespace }) => {
  const findings: DoctorFinding[] = []
  for (const wanted of policiesIn(home)) {
    const kind = await kube.resolve(wanted.apiVersion, wanted.kind)
    const { name } = wanted.metadata
    if (!kind) {
      const remedy = 'Use Kubernetes 1.36 or newer, or the replacements in deploy/policies-legacy.'
      findings.push(warn(`the cluster does not serve ${wanted.apiVersion} ${wanted.kind} (${name})`, remedy))
    } else if (!(await kube.get(kind, { name, ...(wanted.metadata.namespace && { namespace }) }))) {
      findings.push(fail(`${wanted.kind} ${name} is missing, and with it a rule of the API server`, INSTALL))
    }
  }
  return findings.length > 0 ? findings : ok('every admission policy and its binding is there')
}

/** Whatever was installed is still there. Of kinds, and policies that are of no program, other examinations say more. */
export const examineInventory: Examination = async ({ kube, home, namespace }) => {
  const told = new Set([...policiesIn(home), ...definitionsIn(home).map(({ definition }) => definition)].map(nameOf))
  const listed = (await readInventory(kube, namespace)).filter((object) => !told.has(nameOf(object)))
  const present = new Set((await presentOf(kube, listed)).map(nameOf))
  const missing = listed.map(nameOf).filter((name) => !present.has(name))
  if (missing.length > 0) return missing.map((name) => fail(`${name} was installed, and is missing`, INSTALL))
  return listed.length > 0 ? ok(`all ${listed.length} objects of the installation are there`) : []
}

function policiesIn(home: string): AnyObject[] {
  const folder = join(home, 'deploy', 'policies')
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name.endsWith('.yaml') && entry.name !== 'kustomization.yaml',
  )
  return files
    .flatMap(({ name }) => objectsIn(readFileSync(join(folder, name), 'utf8'), name))
    .filter(({ kind }) => kind.includes('AdmissionPolicy') || kind === 'ConfigMap')
}
