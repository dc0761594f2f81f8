{{- define "florin.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "florin.labels" -}}
app.kubernetes.io/name: florin
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "florin.allLabels" -}}
{{ include "florin.labels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "florin.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Nothing is written, no right is needed, and no token of Kubernetes is there to be stolen. */ -}}
{{- define "florin.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "florin.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- /* The settings that api, worker and vault share. */ -}}
{{- define "florin.settings" -}}
- { name: FLORIN_ENVIRONMENT, value: {{ .Values.environment | quote }} }
- { name: FLORIN_INSTANCE, value: {{ .Values.instance | quote }} }
- { name: FLORIN_LOG_LEVEL, value: {{ .Values.logLevel | quote }} }
- { name: FLORIN_VAULT_TLS_CA, value: /etc/florin/vault-tls/ca.crt }
- { name: FLORIN_VAULT_TLS_CERT, value: /etc/florin/vault-tls/tls.crt }
- { name: FLORIN_VAULT_TLS_KEY, value: /etc/florin/vault-tls/tls.key }
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "florin.vaultUrl" -}}
tls://{{ include "florin.name" . }}-vault:8443
{{- end }}

{{- define "florin.scheduling" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
