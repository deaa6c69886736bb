import { X509Certificate } from 'node:crypto'
import type { AnyObject } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'
import { groupOf } from '../../apply/index.ts'

/** Fields that would make the server refuse an object, or two programs write in turns, are left out of what is applied. */
export function normalized(object: AnyObject): AnyObject {
  return NORMALIZERS[`${groupOf(object.apiVersion)}/${object.kind}`]?.(object) ?? object
}

const NORMALIZERS: Record<string, (object: AnyObject) => AnyObject> = {
  'apiextensions.k8s.io/CustomResourceDefinition': withoutBrokenBundle,
  'rbac.authorization.k8s.io/ClusterRole': withoutFilledRules,
  '/Service': withoutEmptyAddress,
}

/**
 * Tools that inject a CA later ship a placeholder; the server refuses the whole CRD for it.
 * https://github.com/fluxcd/pkg/blob/main/ssa/normalize (behaviour, not code)
 */
function withoutBrokenBundle(object: AnyObject): AnyObject {
  const { spec } = object
  if (!isRecord(spec) || !isRecord(spec.conversion)) return object
  const { conversion } = spec
  const { webhook } = conversion
  if (!isRecord(webhook) || !isRecord(webhook.clientConfig)) return object
  const { caBundle, ...clientConfig } = webhook.clientConfig
  if (caBundle === undefined || isBundle(caBundle)) return object
  return { ...object, spec: { ...spec, conversion: { ...conversion, webhook: { ...webhook, clientConfig } } } }
}

/** As the server checks it: base64 of PEM with at least one certificate that parses. */
function isBundle(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    return new X509Certificate(Buffer.from(value, 'base64')).raw.length > 0
  } catch {
    return false
  }
}

/** The rules of an aggregated role are what a controller finds; ours would be thrown out again. */
function withoutFilledRules(object: AnyObject): AnyObject {
  if (!isRecord(object.aggregationRule)) return object
  const { rules: _, ...rest } = object
  return rest
}

/** An empty address means "you choose"; sent along, it would differ from the choice for ever. */
function withoutEmptyAddress(object: AnyObject): AnyObject {
  const { spec } = object
  if (!isRecord(spec) || spec.clusterIP !== '') return object
  const { clusterIP: _, ...rest } = spec
  return { ...object, spec: rest }
}
