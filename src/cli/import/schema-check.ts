import { Ajv, type ErrorObject } from 'ajv'
import type { KubeObject } from '../../api/index.ts'
import { definitionsIn } from '../manifests.ts'
import type { Remark } from './fields.ts'

/** What the API server would refuse, by the schemas of our definitions. */
export type SchemaCheck = (object: KubeObject) => Remark[]

export function createSchemaCheck(home: string): SchemaCheck {
  // Formats and rules are the server's own.
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false })
  const checks = new Map(
    definitionsIn(home).map(({ definition: { spec } }) => [
      spec.names.kind,
      ajv.compile(spec.versions[0]?.schema?.openAPIV3Schema ?? {}),
    ]),
  )
  return (object) => {
    const validate = checks.get(object.kind)
    if (!validate || validate(object)) return []
    return (validate.errors ?? []).map(remarkOf)
  }
}

const remarkOf = ({ instancePath, message = 'is not valid' }: ErrorObject): Remark => ({
  field: instancePath.slice(1).replaceAll('/', '.'),
  says: `Berth would refuse it: it ${message}.`,
})
