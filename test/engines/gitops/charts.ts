/** Charts as people write them, from the smallest on; each lies in the folder `shop`. */

const CHART = 'apiVersion: v2\nname: shop\nversion: 1.2.3\nappVersion: "4.5"\n'

/** The smallest that says something of everything. */
export const shop: Record<string, string> = {
  'shop/Chart.yaml': CHART,
  'shop/values.yaml': 'settings: {mode: chart}\n',
  'shop/templates/settings.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  release: {{ .Release.Name }}.{{ .Release.Namespace }}
  {{- range $name, $value := .Values.settings }}
  {{ $name }}: {{ $value | quote }}
  {{- end }}
`,
}

const HELPERS = `{{- define "shop.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}
`

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "shop.fullname" . }}
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata:
      annotations:
        checksum/config: {{ include (print $.Template.BasePath "/config.yaml") . | sha256sum }}
      labels: {app: {{ .Release.Name }}}
    spec:
      {{- with .Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: web
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          {{- range $i, $port := .Values.ports }}
          {{- if eq $i 0 }}
          ports:
          {{- end }}
            - containerPort: {{ $port | int }}
          {{- end }}
`

const hook = (name: string, event: string) => `apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
  annotations: {"helm.sh/hook": ${event}, "helm.sh/hook-weight": "-5", "helm.sh/hook-delete-policy": hook-succeeded}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
`

const library: Record<string, string> = {
  'shop/charts/common/Chart.yaml': 'apiVersion: v2\nname: common\ntype: library\nversion: 0.1.0\n',
  'shop/charts/common/templates/_map.tpl':
    '{{- define "common.map" -}}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .name }}}\ndata: {{ toJson .data }}\n{{- end }}\n',
}

const cache = (templates: Record<string, string>): Record<string, string> => ({
  'shop/charts/cache/Chart.yaml': 'apiVersion: v2\nname: cache\nversion: 7.0.1\n',
  'shop/charts/cache/values.yaml': 'size: 1\nauth: {enabled: true, user: a}\nexports: {shared: {cacheHost: cache}}\n',
  ...templates,
})

interface ExampleChart {
  files: Record<string, string>
  values?: object
}

export const CHARTS: Record<string, ExampleChart> = {
  'the smallest': { files: shop, values: { settings: { mode: 'given', extra: '0123' } } },
  'what helm create makes': {
    files: {
      'shop/Chart.yaml': CHART,
      'shop/values.yaml':
        'replicaCount: 1\nimage: {repository: nginx, tag: ""}\nports: [8080, 9090]\nautoscaling: {enabled: false}\nnodeSelector: {}\n',
      'shop/templates/_helpers.tpl': `${HELPERS}{{- define "shop.fullname" -}}\n{{ .Release.Name }}-{{ .Chart.Name | trunc 40 }}\n{{- end }}\n`,
      'shop/templates/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: b}\n',
      'shop/templates/deployment.yaml': DEPLOYMENT,
      'shop/templates/NOTES.txt': 'Open {{ .Release.Name }}.\n',
      'shop/templates/tests/test.yaml': hook('test', 'test'),
      'shop/.helmignore': '*.md\n',
      'shop/README.md': '# not {{ a template',
    },
    values: { replicaCount: 3, nodeSelector: { disk: 'ssd' } },
  },
  'CRDs, hooks and tests': {
    files: {
      ...shop,
      'shop/crds/widget.yaml':
        'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {}\n',
      'shop/templates/before.yaml': hook('migrate', 'pre-install,pre-upgrade'),
      'shop/templates/after.yaml': hook('warm', 'post-install'),
      'shop/templates/test.yaml': hook('test', 'test'),
    },
  },
  'a library chart': {
    files: {
      ...shop,
      ...library,
      'shop/Chart.yaml': `${CHART}dependencies: [{name: common, version: 0.x}]\n`,
      'shop/templates/more.yaml': '{{ include "common.map" (dict "name" "more" "data" (dict "a" "b")) }}\n',
    },
  },
  'a subchart with conditions, an alias and values that come back': {
    files: {
      ...shop,
      ...cache({
        'shop/charts/cache/templates/map.yaml':
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-{{ .Chart.Name }}}\ndata: {size: "{{ .Values.size }}", global: "{{ .Values.global.zone }}"}\n',
      }),
      'shop/Chart.yaml': `${CHART}dependencies:
- {name: cache, version: ^7, condition: cache.enabled, import-values: [shared]}
- {name: cache, version: ^7, alias: second, tags: [more]}
`,
      'shop/values.yaml': 'cache: {enabled: true, size: 2}\nglobal: {zone: a}\nsettings: {}\ntags: {more: false}\n',
      'shop/templates/host.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: host}\ndata: {host: "{{ .Values.cacheHost }}"}\n',
    },
    values: { tags: { more: true }, second: { size: 9 } },
  },
  'values taken away by null': {
    files: { ...shop, 'shop/values.yaml': 'settings: {mode: chart, gone: "1"}\n' },
    values: { settings: { gone: null } },
  },
  'a schema': {
    files: {
      ...shop,
      'shop/values.schema.json': '{"type": "object", "properties": {"settings": {"type": "object"}}, "required": ["settings"]}',
    },
  },
  'files of its own': {
    files: {
      ...shop,
      'shop/files/a.conf': 'listen 80;\n',
      'shop/files/b.bin': '\u0000\u0001\n',
      'shop/templates/files.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: files}
data: {{- (.Files.Glob "files/*.conf").AsConfig | nindent 2 }}
binaryData: {b: {{ .Files.Get "files/b.bin" | b64enc }}}
`,
    },
  },
  'capabilities and tpl': {
    files: {
      ...shop,
      'shop/templates/can.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: can}
data:
  version: {{ .Capabilities.KubeVersion.Version }}
  widget: {{ .Capabilities.APIVersions.Has "example.com/v1/Widget" | quote }}
  gadget: {{ .Capabilities.APIVersions.Has "example.com/v1/Gadget" | quote }}
  policy: {{ .Capabilities.APIVersions.Has "policy/v1" | quote }}
  said: {{ tpl .Values.said . | quote }}
  helm: {{ .Capabilities.HelmVersion.Version | quote }}
`,
    },
    values: { said: '{{ .Release.Name }} is in {{ .Release.Namespace }}' },
  },
  'many objects in one template, in the order of their kinds': {
    files: {
      ...shop,
      'shop/templates/all.yaml': `{{- range until 20 }}
---
apiVersion: v1
kind: {{ if mod . 2 }}Service{{ else }}Secret{{ end }}
metadata: {name: n{{ . }}}
{{- end }}
---
# nothing
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: last}
`,
    },
  },
}
