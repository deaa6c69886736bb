import { X509Certificate } from 'node:crypto'
import { type CoreSecret, Deployments, Secrets, textIn } from '../../api/index.ts'
import { hours, isFailure } from '../../std/index.ts'
import { type CheckContext, type DoctorFinding, type Examination, fail, ok, warn } from './finding.ts'

/** Whoever renews it has done so long before. */
const LATE = hours(24 * 7)
/** Nothing renews an authority of ours, and every agent has to be told of another one. */
const AUTHORITY_LATE = hours(24 * 365)

/** What kas and the proxy show their callers, in a cluster where they are installed; elsewhere it is not looked for. */
export const examineCertificates: Examination = async (context) => {
  const findings: DoctorFinding[] = []
  for (const [program, secret] of [
    ['kas', 'kas-tls'],
    ['proxy', 'berth-proxy-tls'],
  ] as const)
    if (await context.kube.get(Deployments, { name: program, namespace: context.namespace }))
      findings.push(...(await examineSecret(context, secret)))
  return findings
}

async function examineSecret({ kube, namespace, now }: CheckContext, name: string): Promise<DoctorFinding[]> {
  const remedy = `Look at \`kubectl logs -n ${namespace} deployment/certificates\`, or at what else fills that Secret.`
  const where = `${namespace}/${name}`
  try {
    const secret = await kube.get(Secrets, { name, namespace })
    const until = secret && endIn(secret, 'tls.crt')
    if (until === undefined) return [fail(`there is no certificate in Secret ${where}`, remedy)]
    const authority = (secret && endIn(secret, 'ca.crt')) ?? Number.POSITIVE_INFINITY
    return [
      told(`the certificate in ${where}`, until, { now, late: LATE, remedy }),
      ...(authority < now + AUTHORITY_LATE
        ? [
            told(`the authority in ${where}`, authority, {
              now,
              late: AUTHORITY_LATE,
              remedy: 'Make another one: docs/installation.md, Certificates.',
            }),
          ]
        : []),
    ]
  } catch (thrown) {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    return [warn(`Secret ${where} could not be read`, 'Run the doctor with the right to read it.')]
  }
}

/** Until when a certificate is good, as milliseconds; nothing where there is none that can be read. */
function endIn(secret: CoreSecret, key: string): number | undefined {
  try {
    return new X509Certificate(textIn(secret, key) ?? '').validToDate.getTime()
  } catch {
    // It is no PEM of a certificate.
    return undefined
  }
}

function told(what: string, until: number, { now, late, remedy }: { now: number; late: number; remedy: string }): DoctorFinding {
  const day = new Date(until).toISOString().slice(0, 10)
  if (until < now) return fail(`${what} was good until ${day}`, remedy)
  return until < now + late ? warn(`${what} is good until ${day}`, remedy) : ok(`${what} is good until ${day}`)
}
