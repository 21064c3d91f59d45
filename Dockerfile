# One image for every command: serve (hub and identity service), serve --only hub|identity, worker, migrate, apply ...
FROM node:24-bookworm-slim AS vendor
WORKDIR /srv/npm
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    && mkdir -p vendor/openapi-explorer \
    && cd node_modules/openapi-explorer \
    && cp dist/browser/openapi-explorer.min.js LICENSE package.json ../../vendor/openapi-explorer/

FROM python:3.12-slim-bookworm AS parts
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
COPY requirements.lock /tmp/requirements.lock
RUN pip install --no-deps --require-hashes --only-binary :all: -r /tmp/requirements.lock
WORKDIR /srv/gatehouse
COPY app app
RUN python -m compileall -q app /opt/venv/lib
# The `gatehouse` command, without the build tools that installing the package would need.
RUN printf '#!/opt/venv/bin/python\nimport sys\n\nsys.path.insert(0, "/srv/gatehouse")\nfrom app.cli import main\n\nmain()\n' > /opt/venv/bin/gatehouse \
    && chmod 0755 /opt/venv/bin/gatehouse

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --user-group --home-dir /var/lib/gatehouse --create-home gatehouse
COPY --from=parts /opt/venv /opt/venv
COPY --from=parts /srv/gatehouse/app /srv/gatehouse/app
COPY templates /srv/gatehouse/templates
COPY static /srv/gatehouse/static
COPY --from=vendor /srv/npm/vendor /srv/gatehouse/static/vendor
COPY translations /srv/gatehouse/translations
COPY docs /srv/gatehouse/docs
COPY CHANGELOG.md /srv/gatehouse/CHANGELOG.md
COPY LICENSE /srv/gatehouse/LICENSE
WORKDIR /srv/gatehouse
RUN /opt/venv/bin/python -c 'from app.hub import compiled_templates, flask_app; compiled_templates.compile_all(flask_app.make_flask_app([b"none"]).jinja_env)'
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 GATEHOUSE_DATA_DIR=/var/lib/gatehouse
USER 10001:10001
VOLUME /var/lib/gatehouse
EXPOSE 8000
STOPSIGNAL SIGTERM
ENTRYPOINT ["gatehouse"]
CMD ["serve", "--bind", "0.0.0.0:8000"]
