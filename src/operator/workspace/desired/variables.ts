import { objectNameOf } from './names.ts'
import type { Addition, Plan } from './plan.ts'

const VOLUME = 'workspace-variables'
const FOLDER = '/.workspace-data/variables/file'
/** Whoever of group 0 runs the container reads and runs the files. */
const MODE = 0o774

/** Each refresh has a Secret of its own: the pods of before keep theirs, and the new ones never mix both. */
export const variablesNameOf = ({ workspace, variablesMark = '' }: Pick<Plan, 'workspace' | 'variablesMark'>): string =>
  [objectNameOf(workspace), 'variables', variablesMark].filter(Boolean).join('-')

/** What every container gets: variables from the frozen Secret; of files, the path to them. */
export function variablesAddition(plan: Plan): Addition {
  const { list = [] } = plan.variables
  const secretName = variablesNameOf(plan)
  if (list.length === 0) return {}
  const files = list.filter(({ type }) => type === 'file').map(({ name }) => name)
  // All keys are variables by this; of those that are files the path, which stands in `env`, wins.
  const envFrom = [{ secretRef: { name: secretName } }]
  if (files.length === 0) return { envFrom }
  const items = files.map((name) => ({ key: name, path: name }))
  return {
    envFrom,
    env: files.map((name) => ({ name, value: `${FOLDER}/${name}` })),
    volumes: [{ name: VOLUME, secret: { secretName, defaultMode: MODE, items } }],
    mounts: [{ name: VOLUME, mountPath: FOLDER, readOnly: true }],
  }
}
