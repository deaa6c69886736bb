import type { AnyObject } from '../../../src/api/index.ts'

/** What a small service is made of. */
export const serviceObjects = (): AnyObject[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', labels: LABELS } },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', labels: LABELS },
    spec: { selector: LABELS, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels: LABELS },
    spec: {
      replicas: 0,
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: { serviceAccountName: 'web', containers: [CONTAINER] } },
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', labels: LABELS },
    spec: { rules: [{ host: 'web.example.com', http: { paths: [ROUTE] } }] },
  },
]

const LABELS = { 'app.kubernetes.io/name': 'web' }
const CONTAINER = {
  name: 'web',
  image: 'registry.example.com/web:1.2.3',
  ports: [{ containerPort: 8080 }],
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
}
const ROUTE = { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { name: 'http' } } } }

/** `value` is what changes from commit to commit. */
export const settings = (name: string, value: string): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value, filler: 'x'.repeat(80) },
})

/** JSON is YAML. */
export const fileOf = (object: AnyObject): string => `${JSON.stringify(object, undefined, 2)}\n`

export const numbered = (name: string, n: number): string => `${name}-${String(n).padStart(5, '0')}`
